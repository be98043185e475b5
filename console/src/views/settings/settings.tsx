/** The settings of a scenario: its mode, its model, what bounds its training, who is served a change, and its deletion. */
import { useState } from 'preact/hooks'
import type { ScenarioRow } from '@svc-ai/client'
import { MODES } from '../../data/training-modes.ts'
import { useAction } from '../../data/use-action.ts'
import { usePolled, type Polled } from '../../poll.ts'
import { go } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Choices } from '../../ui/choices.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Done } from '../../ui/done.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { BudgetsCard, type OwnProps } from './budgets-card.tsx'
import { ModelCard } from './model-card.tsx'
import { RolloutCard } from './rollout-card.tsx'
import './settings.css'

export interface SettingsProps {
  readonly scenario: string
  readonly scenarios: Polled<readonly ScenarioRow[]>
}

export function Settings({ scenario, scenarios }: SettingsProps) {
  const row = scenarios.value?.find((each) => each.scenario === scenario)
  // Only a loaded scenario says what it is set to; asking for its releases loads it.
  const { said } = usePolled(`load ${scenario}`, (service) => service(scenario).releasePage({ limit: 1 }), null)
  return (
    <div class="stack settings">
      <div class="row">
        <h1>Settings</h1>
        {row?.recipe != null && (
          <span class="muted">
            recipe <Text value={row.recipe} />
          </span>
        )}
      </div>
      <Notice said={said} />
      {row?.training_mode !== undefined && <ModeCard scenario={scenario} mode={row.training_mode} changed={scenarios.refresh} />}
      {row?.model !== undefined && <ModelCard scenario={scenario} model={row.model} changed={scenarios.refresh} />}
      {row?.evolution !== undefined && <RolloutCard {...bounded(row, row.evolution, scenarios.refresh)} />}
      {row?.evolution !== undefined && <BudgetsCard {...bounded(row, row.evolution, scenarios.refresh)} />}
      {row !== undefined && <DeleteCard scenario={scenario} deleted={scenarios.refresh} />}
    </div>
  )
}

const bounded = ({ scenario, recipe }: ScenarioRow, own: OwnProps['own'], changed: OwnProps['changed']): OwnProps => ({
  scenario,
  recipe,
  own,
  changed,
})

interface ModeProps {
  readonly scenario: string
  readonly mode: NonNullable<ScenarioRow['training_mode']>
  readonly changed: () => Promise<void>
}

function ModeCard({ scenario, mode, changed }: ModeProps) {
  const { service } = useSession()
  const [chosen, setChosen] = useState<typeof mode | null>(null)
  const wanted = chosen ?? mode
  const { isBusy, said, done, act } = useAction()
  const use = (): Promise<void> =>
    act(
      async () => {
        const updated = await service(scenario).updateScenario({ training_mode: wanted })
        await changed()
        setChosen((now) => (now === chosen ? null : now))
        return updated
      },
      ({ training_mode: now }) => `The mode is ${now} now.`,
    )
  return (
    <Card title="Training mode" aside={<Badge tone="plain">{mode}</Badge>}>
      <Choices legend="Training mode" group="mode" all={MODES} chosen={wanted} choose={setChosen} />
      <div class="row">
        <button type="button" class="button primary" disabled={isBusy || wanted === mode} onClick={() => void use()}>
          Use this mode
        </button>
        <span class="muted small">It is not kept over a restart: data.training_mode in the configuration is.</span>
      </div>
      <Done said={said} done={done} />
    </Card>
  )
}

/** The name is typed once more, since a click is too easy. */
function DeleteCard({ scenario, deleted }: { readonly scenario: string; readonly deleted: () => Promise<void> }) {
  const { service } = useSession()
  const [isAsked, setAsked] = useState(false)
  const [typed, setTyped] = useState('')
  const act = async (): Promise<void> => {
    await service(scenario).archiveScenario()
    void deleted()
    go({ at: 'scenarios' })
  }
  return (
    <Card title="Delete the scenario">
      <p>Its records and releases are archived beside the others, its name is free again, and it is served no longer.</p>
      <div>
        <Button class="danger" onClick={() => setAsked(true)}>
          Delete …
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title="Delete the scenario?"
          verb="Delete"
          isReady={typed === scenario}
          act={act}
          close={() => {
            setAsked(false)
            setTyped('')
          }}
        >
          <p>
            Clients that name <Text value={scenario} /> are refused from then on, or make a new scenario where that is allowed.
          </p>
          <label class="field">
            <span>Type its name to confirm</span>
            <input autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          </label>
        </Confirm>
      )}
    </Card>
  )
}
