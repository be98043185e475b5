/** The first page: whether anything needs a person, and what the week brought. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ScenarioRow } from '@svc-ai/client'
import { costText, counted, scoreText, signed, whole, type SpentTotals } from '../../../../src/presentation/index.ts'
import type { Polled } from '../../poll.ts'
import { placeIn, plainHref, useFilter, type View } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { useListKeys } from '../../ui/keys.ts'
import { Empty, Notice } from '../../ui/notice.tsx'
import { NumberCell, Table } from '../../ui/table.tsx'
import { shortened, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { FirstRequest } from '../scenarios/first-request.tsx'
import { byScenario, narrowed, type HomeInbox, type InboxItem, type WeekRow } from './inbox.ts'
import { useInbox, type HomeAnswer } from './use-inbox.ts'
import './home.css'

/** Fewer are seen at a glance. */
const FILTER_LEAST = 5

export function Home({ scenarios }: { readonly scenarios: Polled<readonly ScenarioRow[]> }) {
  const { value: all, said } = useInbox(scenarios.value)
  const words = useFilter('name')
  const value = all === null ? null : narrowed(all, words.value)
  const list = useListKeys<HTMLDivElement>('a.inbox-link')
  return (
    <div class="stack home" ref={list}>
      <div class="row">
        <h1>Home</h1>
        {value !== null && <Summary inbox={value} />}
        <span class="spring" />
        {(scenarios.value?.length ?? 0) > FILTER_LEAST && (
          <input
            data-filter
            aria-label="Filter by scenario"
            placeholder="Filter by scenario"
            value={words.value}
            onInput={(event) => words.type(event.currentTarget.value)}
          />
        )}
      </div>
      <Notice said={scenarios.said ?? said} />
      {scenarios.value?.length === 0 && <Empty title="No scenario yet" hint={<FirstRequest scenario="first" />} />}
      {value === null && said === null && scenarios.value?.length !== 0 && <p class="muted">Looking at every scenario …</p>}
      {value !== null && scenarios.value?.length !== 0 && <Whole inbox={value} />}
    </div>
  )
}

function Summary({ inbox: { decisions, failures, unseen } }: { readonly inbox: HomeAnswer }) {
  const parts = [
    ...(decisions.length === 0 ? [] : [counted(decisions.length, 'decision')]),
    ...(failures.length === 0 ? [] : [counted(failures.length, 'failure')]),
  ]
  if (parts.length === 0 && unseen > 0)
    return <Badge tone="plain">{`Nothing needs you; ${counted(unseen, 'scenario')} not looked at`}</Badge>
  if (parts.length === 0) return <Badge tone="good">Nothing needs you</Badge>
  return <Badge tone={failures.length > 0 ? 'bad' : 'warn'}>{`${parts.join(' and ')} for you`}</Badge>
}

function Whole({ inbox }: { readonly inbox: HomeAnswer }) {
  const { decisions, failures, forTraffic, working, cut, unseen, isNarrow } = inbox
  return (
    <>
      <Items title="Waiting for your decision" items={decisions} view="releases" none="No release waits for a review." />
      <Items title="Failed" items={failures} view="training" none="Nothing failed this week." />
      <Week inbox={inbox} />
      {isNarrow ? (
        <p class="muted small">Your token is for single scenarios: what runs now and what waits for traffic is not shown.</p>
      ) : (
        <div class="cards">
          <Items title="Waiting for traffic" items={forTraffic} view="training" none="No scenario waits for traffic." />
          <Items title="Working now" items={working} view="training" none="No step runs." />
        </div>
      )}
      {cut.length > 0 && <p class="muted small">Only the newest steps were looked at in {counted(cut.length, 'scenario')}.</p>}
      {unseen > 0 && (
        <p class="muted small">
          {counted(unseen, 'scenario')} not looked at: the page shows those in memory, 250 at most.{' '}
          <a href={plainHref({ at: 'scenarios' })}>All scenarios</a>
        </p>
      )}
    </>
  )
}

interface ItemsProps {
  readonly title: string
  readonly items: readonly InboxItem[]
  /** Where an item leads that is about no step. */
  readonly view: View
  readonly none: string
}

const GROUPS_SHOWN = 20

function Items({ title, items, view, none }: ItemsProps) {
  const [isWhole, setWhole] = useState(false)
  const groups = byScenario(items)
  const shown = isWhole ? groups : groups.slice(0, GROUPS_SHOWN)
  return (
    <Card title={title} aside={items.length > 0 && <span class="muted number">{whole(items.length)}</span>}>
      {items.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <ul class="inbox">
          {shown.map(([first, ...others]) => (
            <Group key={first.scenario} first={first} others={others} view={view} />
          ))}
        </ul>
      )}
      {groups.length > shown.length && (
        <Button class="small" onClick={() => setWhole(true)}>
          {`Show ${counted(groups.length - shown.length, 'more scenario')}`}
        </Button>
      )}
    </Card>
  )
}

const TITLE_CHARACTERS = 200

interface GroupProps {
  readonly first: InboxItem
  readonly others: readonly InboxItem[]
  readonly view: View
}

/** One scenario takes one place, however much waits in it. */
function Group({ first, others, view }: GroupProps) {
  return (
    <li>
      <Item item={first} view={view} />
      {others.length > 0 && (
        <details class="inbox-line">
          <summary class="muted small">
            {`${counted(others.length, 'more', 'more')} of `}
            <Text value={first.scenario} />
          </summary>
          <ul class="inbox">
            {others.map((item) => (
              <li key={`${item.step} ${item.title}`}>
                <Item item={item} view={view} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

function Item({ item: { scenario, step, title, line, at, view: own }, view }: { readonly item: InboxItem; readonly view: View }) {
  const words = <Text value={shortened(title, TITLE_CHARACTERS)} />
  return (
    <>
      {scenario === '' ? (
        <a class="inbox-link" href={plainHref({ at: 'storage' })}>
          {words}
        </a>
      ) : (
        <a class="inbox-link" href={plainHref(step === null ? placeIn(scenario, own ?? view) : placeIn(scenario, 'releases', `@${step}`))}>
          {words}
        </a>
      )}
      <span class="muted small">{at !== null && <Ago at={at} />}</span>
      <span class="muted small inbox-line">
        {scenario !== '' && <Text value={scenario} class="inbox-scenario" />}
        {scenario !== '' && line !== null && ' · '}
        {line !== null && <Text value={shortened(line)} />}
      </span>
    </>
  )
}

function Week({ inbox: { week, weekSpent } }: { readonly inbox: HomeInbox }) {
  const cost = weekSpent === null ? null : costText(weekSpent.cost, weekSpent.unpriced_calls)
  return (
    <Card title="This week" aside={cost !== null && <span class="muted">training {cost}</span>}>
      {week.length === 0 ? (
        <p class="muted">No release improved anything this week, and no step took tokens.</p>
      ) : (
        <Table columns={['Scenario', 'Improved by', 'Mean score', 'Releases', 'Tokens', 'Training cost']}>
          {week.map((row) => (
            <WeekLine key={row.scenario} row={row} />
          ))}
        </Table>
      )}
    </Card>
  )
}

function WeekLine({ row: { scenario, gains, spent } }: { readonly row: WeekRow }) {
  const { releases, before, after } = gains
  const gain = before === null || after === null ? null : after - before
  return (
    <tr>
      <td data-label="Scenario">
        <a href={plainHref(placeIn(scenario, 'releases'))}>
          <Text value={scenario} />
        </a>
      </td>
      <NumberCell of="Improved by">{gain === null ? <Unmeasured of={releases.length} /> : <Gain gain={gain} />}</NumberCell>
      <NumberCell of="Mean score">{gain !== null && `${scoreText(before ?? 0)} → ${scoreText(after ?? 0)}`}</NumberCell>
      <NumberCell of="Releases">{whole(releases.length)}</NumberCell>
      <NumberCell of="Tokens">{spent === null ? NOT_COUNTED : whole(spent.input_tokens + spent.output_tokens)}</NumberCell>
      <NumberCell of="Training cost">{spent === null ? NOT_COUNTED : <Cost spent={spent} />}</NumberCell>
    </tr>
  )
}

const NOT_COUNTED = <span class="muted">not counted</span>

const Gain = ({ gain }: { readonly gain: number }): ComponentChildren => (
  <span
    class={`gain ${gain > 0 ? 'good' : gain < 0 ? 'bad' : ''}`}
    title="The mean score per episode after the last release, less the one before the first"
  >
    {signed(gain)}
  </span>
)

const Unmeasured = ({ of }: { readonly of: number }): ComponentChildren => (
  <span class="muted">{of === 0 ? 'nothing new' : 'not measured'}</span>
)

const Cost = ({ spent: { steps, cost, unpriced_calls: unpriced } }: { readonly spent: SpentTotals }): ComponentChildren => (
  <span title={counted(steps, 'step')}>{costText(cost, unpriced).replace(/^cost /, '')}</span>
)
