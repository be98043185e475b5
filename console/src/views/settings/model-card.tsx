/** The model of a scenario: its address, its name, its format and its key. The key is written and never shown. */
import { useState } from 'preact/hooks'
import type { ScenarioRow, UpdateScenarioBody } from '@svc-ai/client'
import { useAction } from '../../data/use-action.ts'
import { useSession } from '../../session.ts'
import { Card } from '../../ui/card.tsx'
import { Done } from '../../ui/done.tsx'
import { Options } from '../../ui/options.tsx'

interface ModelProps {
  readonly scenario: string
  readonly model: NonNullable<ScenarioRow['model']>
  readonly changed: () => Promise<void>
}

/** What a person changed and did not send yet. */
interface Typed {
  readonly url?: string
  readonly name?: string
  readonly api?: (typeof APIS)[number]
  readonly key?: string
}

const APIS = ['openai', 'responses', 'anthropic', 'gemini'] as const

export function ModelCard({ scenario, model, changed }: ModelProps) {
  const { service } = useSession()
  const { isBusy, said, done, act } = useAction()
  const [typed, setTyped] = useState<Typed>({})
  const { url = model.url, name = model.model ?? '', api = model.api, key = '' } = typed
  const type = (more: Typed): void => setTyped({ ...typed, ...more })
  const use = (wanted: UpdateScenarioBody['model'], words: string): Promise<void> =>
    act(
      async () => {
        await service(scenario).updateScenario({ model: wanted ?? null })
        await changed()
        setTyped((now) => (now === typed ? {} : now))
      },
      () => words,
    )
  const own = {
    url: url.trim(),
    api,
    ...(name.trim() !== '' && { model: name.trim() }),
    ...(key !== '' && { api_key: key }),
  }
  return (
    <Card title="Model" aside={<span class="muted small">{model.has_api_key ? 'a key is set' : 'no key is set'}</span>}>
      <form
        class="model-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void use(own, 'The next request asks this model.')
        }}
      >
        <label class="field">
          <span>Address</span>
          <input required type="url" value={url} onInput={(event) => type({ url: event.currentTarget.value })} autocomplete="off" />
        </label>
        <label class="field">
          <span>Model; empty for the one that is asked for</span>
          <input value={name} onInput={(event) => type({ name: event.currentTarget.value })} autocomplete="off" />
        </label>
        <label class="field">
          <span>Format</span>
          <select value={api} onChange={({ currentTarget }) => type({ api: APIS.find((each) => each === currentTarget.value) ?? api })}>
            <Options of={APIS} />
          </select>
        </label>
        <label class="field">
          <span>Key; it is never shown again</span>
          <input type="password" value={key} onInput={(event) => type({ key: event.currentTarget.value })} autocomplete="off" />
        </label>
        <div class="row">
          <button class="button primary" disabled={isBusy}>
            Use this model
          </button>
          <button
            type="button"
            class="button"
            disabled={isBusy}
            onClick={() => void use(null, 'The scenario asks the model of the deployment.')}
          >
            Back to the deployment's
          </button>
          <span class="muted small">These settings replace all of the scenario, the key too; what is left empty is the deployment's.</span>
        </div>
      </form>
      <Done said={said} done={done} />
    </Card>
  )
}
