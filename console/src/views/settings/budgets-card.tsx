/** What the training of a scenario may take: each bound as it is configured, or as it was set here. */
import { useState } from 'preact/hooks'
import type { ScenarioRow, UpdateScenarioBody } from '@svc-ai/client'
import { keysAbout, valueText } from '../../data/configuration.ts'
import { useAction } from '../../data/use-action.ts'
import { usePolled } from '../../poll.ts'
import { useSession } from '../../session.ts'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Done } from '../../ui/done.tsx'
import { Notice } from '../../ui/notice.tsx'

export interface OwnProps {
  readonly scenario: string
  readonly recipe: string | null
  readonly own: NonNullable<ScenarioRow['evolution']>
  /** Asks what is kept now. What was typed is shown until that is known. */
  readonly changed: () => Promise<void>
}

type Changes = NonNullable<UpdateScenarioBody['evolution']>

const BOUNDS = [
  ['max_cost_per_day', 'Money in a day'],
  ['max_tokens_per_day', 'Tokens in a day'],
  ['max_cost_per_step', 'Money of a step'],
  ['max_tokens_per_step', 'Tokens of a step'],
  ['max_episodes_per_step', 'Episodes of a step'],
  ['max_model_calls_per_step', 'Model calls of a step'],
  ['max_steps', 'Steps in all'],
  ['max_failure_streak', 'Steps in a row that brought nothing better'],
] as const
type Bound = (typeof BOUNDS)[number][0]

export function BudgetsCard({ scenario, recipe, own, changed }: OwnProps) {
  const { service } = useSession()
  const { isBusy, said, done, act } = useAction()
  const configuration = usePolled('configuration', (of) => of().configuration(), null)
  const [typed, setTyped] = useState<Readonly<Partial<Record<Bound, string>>>>({})
  const [isAsked, setAsked] = useState(false)
  const configured = new Map(
    keysAbout(configuration.value ?? { keys: [] }, 'budgets', recipe).map(({ key, value }) => [key.split('.').at(-1), valueText(value)]),
  )
  const changes: Changes = Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, text.trim() === '' ? null : Number(text)]))
  const opened = BOUNDS.filter(([name]) => changes[name] === 0)
  const use = async (): Promise<void> => {
    await service(scenario).updateScenario({ evolution: changes })
    await changed()
    setTyped((now) => (now === typed ? {} : now))
  }
  const save = (): Promise<void> => act(use, () => 'The next step keeps to these.')
  return (
    <Card title="Budgets" aside={<span class="muted small">0 is no limit; empty is as configured</span>}>
      <Notice said={configuration.said} />
      <form
        class="model-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (opened.length > 0) setAsked(true)
          else if (!isBusy) void save()
        }}
      >
        {BOUNDS.map(([name, title]) => (
          <label key={name} class="field">
            <span>{title}</span>
            <input
              type="number"
              min="0"
              step={name.includes('cost') ? 'any' : '1'}
              placeholder={configured.has(name) ? `${configured.get(name)} as configured` : 'as configured'}
              value={typed[name] ?? own[name] ?? ''}
              onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <div class="row">
          <button class="button primary" disabled={isBusy || Object.keys(typed).length === 0}>
            Use these budgets
          </button>
        </div>
      </form>
      <Done said={said} done={done} />
      {isAsked && (
        <Confirm title="Take limits away?" verb="Take them away" act={save} close={() => setAsked(false)}>
          <p>From the next step on nothing bounds: {opened.map(([, title]) => title.toLowerCase()).join(', ')}.</p>
        </Confirm>
      )}
    </Card>
  )
}
