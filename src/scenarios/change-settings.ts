/** Changes the settings of a loaded scenario: all of a change or none of it. */
import type { EvolutionChanges, ModelSettings, TrainingMode } from '../contract/index.ts'
import { watchProvisional } from './live-test.ts'
import { changedEvolution } from './own-evolution.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

/** What is left out stays as it was; null stands for what is configured. */
export interface SettingChanges {
  readonly mode?: TrainingMode | undefined
  readonly model?: ModelSettings | null | undefined
  readonly evolution?: EvolutionChanges | null | undefined
}

export async function changeSettings(
  services: Services,
  scenario: Scenario,
  { mode, model, evolution }: SettingChanges,
): Promise<Scenario> {
  if (mode !== undefined) scenario.checkMode(mode)
  const own = evolution === undefined ? undefined : changedEvolution(scenario, evolution)
  if (model !== undefined) {
    await services.files.writeModel(scenario.created, model)
    scenario.useModel(model)
  }
  if (own !== undefined) {
    await services.files.writeEvolution(scenario.created, own)
    scenario.useEvolution(own)
    watchProvisional(services, scenario)
  }
  // Other processes read the settings again, also where only a file changed.
  await scenario.store.configure(mode === undefined ? {} : { training_mode: mode })
  if (mode !== undefined) scenario.useMode(mode)
  return scenario
}
