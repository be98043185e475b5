/** What the configuration says of recording. */
import type { LoadedConfig } from '../config/index.ts'
import { Recorder } from '../recording/index.ts'

export function openRecorder({ config: { recording } }: LoadedConfig): Recorder {
  const { mode, scenarios } = recording
  const own = Object.entries(scenarios).map(([name, rule]) => [name, { mode: rule.mode ?? mode }] as const)
  return new Recorder({ mode, scenarios: new Map(own) })
}
