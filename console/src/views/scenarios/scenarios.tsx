/** All scenarios: what each is made of, what it serves and how it is; and a box to make one. */
import { useState } from 'preact/hooks'
import type { ScenarioRow, StatusReport } from '@svc-ai/client'
import { counted, type StepTone } from '../../../../src/presentation/index.ts'
import { saidOf, type FailureNotice } from '../../failure.ts'
import { usePolled, type Polled } from '../../poll.ts'
import { go, hrefOf, placeIn, useFilter } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Id } from '../../ui/id.tsx'
import { useListKeys } from '../../ui/keys.ts'
import { Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import { FirstRequest } from './first-request.tsx'
import { loadFailure, statusFor, trainingFailures } from '../../data/status.ts'
import './scenarios.css'

const STATUS_SECONDS = 2
const ROWS_MAX = 200

export function Scenarios({ scenarios }: { readonly scenarios: Polled<readonly ScenarioRow[]> }) {
  const status = usePolled('status', (service) => service().status(), STATUS_SECONDS)
  const { value: filter, type: setFilter } = useFilter('name')
  const rows = (scenarios.value ?? []).filter(({ scenario }) => scenario.toLowerCase().includes(filter.trim().toLowerCase()))
  return (
    <div class="stack">
      <div class="row">
        <h1>Scenarios</h1>
        <span class="muted">{scenarios.value !== null && counted(scenarios.value.length, 'scenario')}</span>
        <span class="spring" />
        <input
          data-filter
          aria-label="Filter by name"
          placeholder="Filter by name"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </div>
      <Notice said={scenarios.said ?? status.said} />
      {scenarios.value?.length === 0 && <Empty title="No scenario yet" hint={<FirstRequest scenario="first" />} />}
      {rows.length > 0 && <Listed rows={rows.slice(0, ROWS_MAX)} status={status.value} />}
      {rows.length > ROWS_MAX && <p class="muted">{`The first ${ROWS_MAX}; filter by name to see others.`}</p>}
      {rows.length === 0 && filter !== '' && <p class="muted">None is named so.</p>}
      <Create />
    </div>
  )
}

function Listed({ rows, status }: { readonly rows: readonly ScenarioRow[]; readonly status: StatusReport | null }) {
  const list = useListKeys<HTMLDivElement>('a.scenario-name')
  return (
    <div class="card scenarios-card" ref={list}>
      <Table columns={['Name', 'Recipe', 'Adapter', 'Mode', 'Served release', 'State']}>
        {rows.map((row) => (
          <Row key={row.scenario} row={row} status={status} />
        ))}
      </Table>
    </div>
  )
}

function Row({ row, status }: { readonly row: ScenarioRow; readonly status: StatusReport | null }) {
  const { scenario, recipe, adapter, training_mode: mode, release_id: release } = row
  const state = stateOf(row, status)
  return (
    <tr>
      <td>
        <a class="scenario-name" href={hrefOf(placeIn(scenario, 'traffic'))}>
          <Text value={scenario} />
        </a>
      </td>
      <td data-label="Recipe">{recipe !== null && <Text value={recipe} />}</td>
      <td data-label="Adapter">{adapter !== undefined && <Text value={adapter} />}</td>
      <td data-label="Mode">{mode}</td>
      <td data-label="Release">{release !== undefined && <Id value={release} href={hrefOf(placeIn(scenario, 'releases'))} />}</td>
      <td data-label="State">
        <span class="stack tight">
          <span>
            <Badge tone={state.tone}>{state.word}</Badge>
          </span>
          {state.line !== null && <Text value={state.line} class="small" />}
        </span>
      </td>
    </tr>
  )
}

function Create() {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>New scenario</summary>
      {isOpen && <CreateForm />}
    </details>
  )
}

/** The recipes are those of the configuration; a token that may not read it may make no scenario either. */
function CreateForm() {
  const session = useSession()
  const { value: configured, said: notRead } = usePolled('configuration', (service) => service().configuration(), null)
  const names = configured?.recipes.map((each) => each.name) ?? ['']
  const [name, setName] = useState('')
  const [recipe, setRecipe] = useState('')
  const [said, setSaid] = useState<FailureNotice | null>(null)
  const [isMaking, setMaking] = useState(false)
  const make = async (): Promise<void> => {
    setMaking(true)
    setSaid(null)
    try {
      const { scenario } = await session.service().createScenario(name.trim(), recipe === '' ? undefined : recipe)
      go(placeIn(scenario, 'traffic'))
    } catch (error) {
      setSaid(saidOf(error))
    } finally {
      setMaking(false)
    }
  }
  return (
    <>
      <form
        class="row create"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== '' && !isMaking) void make()
        }}
      >
        <label class="field">
          <span>Name</span>
          <input required value={name} onInput={(event) => setName(event.currentTarget.value)} autocomplete="off" />
        </label>
        <label class="field">
          <span>Recipe</span>
          <select value={recipe} onChange={(event) => setRecipe(event.currentTarget.value)}>
            {names.map((each, at) => (
              <option key={each} value={each}>
                {at === 0 && configured !== null ? `${visible(each)} (default)` : visible(each)}
              </option>
            ))}
          </select>
        </label>
        <button class="button primary" disabled={isMaking}>
          Create
        </button>
      </form>
      <Notice said={said ?? notRead} />
    </>
  )
}

interface ScenarioState {
  readonly tone: StepTone
  readonly word: string
  readonly line: string | null
}

/** How a scenario is, in one word and, where something is to be done, a line. */
export function stateOf({ scenario, loaded }: ScenarioRow, status: StatusReport | null): ScenarioState {
  const own = statusFor(status, scenario)
  const trouble = loadFailure(status, scenario) ?? trainingFailures(status, scenario)[0] ?? own?.error ?? null
  if (trouble !== null) return { tone: 'bad', word: 'error', line: trouble }
  if (!loaded) return { tone: 'plain', word: 'asleep', line: null }
  if (own === undefined) return { tone: 'plain', word: 'loaded', line: null }
  const { automatic_steps_stopped: stopped, pending_instructions: pending } = own.processor ?? {}
  if (own.batch_ready === true) return { tone: 'good', word: 'training', line: null }
  if (typeof stopped === 'string') return { tone: 'warn', word: 'budget used up', line: stopped }
  if (typeof pending === 'number' && pending > 0) return { tone: 'warn', word: 'instructions wait', line: null }
  return pending === undefined ? { tone: 'plain', word: 'recording', line: null } : { tone: 'plain', word: 'waiting', line: null }
}
