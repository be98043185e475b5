/** One step: why it was made, what it may do, its result and evidence, what it changes, and its record. */
import { useMemo } from 'preact/hooks'
import {
  changesOf,
  EXPLAINED,
  releaseWord,
  timeFor,
  type ChangeBlock,
  type EntryChange,
  type StepView,
  type SetupItem,
} from '../../../../src/presentation/index.ts'
import { go, hrefOf, type Route, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Explained } from '../../ui/explained.tsx'
import { Empty } from '../../ui/notice.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Id } from '../../ui/id.tsx'
import { useKeys } from '../../ui/keys.ts'
import { PageLink } from '../../ui/button.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { madeBy, mayReject, moveIn, stepIn, viewOf, type StepChain, type StepProps } from '../../data/chain.ts'
import { AnotherTryButton } from './another-try.tsx'
import { CommentsCard } from './comments.tsx'
import { MoveButton, useMoves } from './move.tsx'
import { PinCard } from './pin.tsx'
import { PowersCard } from './powers.tsx'
import { RejectButton } from './reject.tsx'
import { ReleaseFiles } from './release-files.tsx'
import { ResultCard } from './result-card.tsx'
import { StepFiles } from './step-files.tsx'
import './releases.css'

const POINTS_MAX = 50

export function Release({ scenario, id }: { readonly scenario: string; readonly id: string }) {
  const { chain, done, notices } = useMoves(scenario)
  const to = (step: string | null): Route => placeIn(scenario, 'releases', step)
  const step = chain === null ? undefined : stepIn(chain, id)
  return (
    <div class="stack releases">
      <nav class="row" aria-label="Steps">
        <a href={hrefOf(to(null))}>← All releases</a>
        <span class="spring" />
        {chain !== null && step !== undefined && <Neighbours chain={chain} step={step} to={to} />}
      </nav>
      {notices}
      {chain !== null && step === undefined && <Empty title="No such step" hint={<a href={hrefOf(to(null))}>All releases</a>} />}
      {chain !== null && step !== undefined && <Whole key={id} {...{ scenario, chain, step, done }} />}
    </div>
  )
}

function Neighbours({ chain: { steps }, step, to }: Omit<StepProps, 'scenario'> & { readonly to: (step: string) => Route }) {
  const at = steps.indexOf(step)
  const [newer, older] = [steps[at - 1], steps[at + 1]]
  useKeys({
    ...(older !== undefined && { j: () => go(to(older.id)) }),
    ...(newer !== undefined && { k: () => go(to(newer.id)) }),
  })
  return (
    <>
      {older !== undefined && <a href={hrefOf(to(older.id))}>Older: {older.name}</a>}
      {newer !== undefined && <a href={hrefOf(to(newer.id))}>Newer: {newer.name}</a>}
    </>
  )
}

interface WholeProps extends StepProps {
  readonly done: (line: string) => void
}

function Whole({ scenario, chain, step, done }: WholeProps) {
  const view = viewOf(chain, step)
  // The tree before is not known here: an entry is shown as it is now, and the files are compared below.
  const { changes } = useMemo(() => changesOf(step.row.metrics, null, { timeLeft: timeFor(0) }), [step.row])
  return (
    <>
      <Head scenario={scenario} chain={chain} step={step} view={view} done={done} />
      {view.rejection !== null && (
        <Card
          title="Rejected"
          aside={
            <span class="muted small">
              <Ago at={view.rejection.at} />
            </span>
          }
        >
          <LongText value={view.rejection.reason} />
        </Card>
      )}
      <WhyCard view={view} />
      <PowersCard powers={view.powers} />
      <ResultCard scenario={scenario} chain={chain} view={view} />
      <NotesCard view={view} />
      <CommentsCard scenario={scenario} step={step} view={view} done={done} />
      {changes.length > 0 && <ChangesCard changes={changes} />}
      {chain.hasFiles && view.madeRelease && <ReleaseFiles scenario={scenario} chain={chain} step={step} />}
      {chain.hasFiles && view.madeRelease && <PinCard scenario={scenario} chain={chain} step={step} />}
      {chain.hasFiles && <StepFiles scenario={scenario} place={step.id} />}
    </>
  )
}

function Head({ scenario, chain, step, view: { status, madeRelease, headline, points }, done }: WholeProps & { readonly view: StepView }) {
  const { row, name, pagePath } = step
  const move = moveIn(chain, step)
  return (
    <header class="stack tight">
      <div class="row">
        <h1>{name}</h1>
        <Badge tone={status.tone}>{status.word}</Badge>
        {row.current && <Badge tone="good">Served now</Badge>}
        <span class="spring" />
        <PageLink path={pagePath} words="Page to share" class="button small" />
        <AnotherTryButton scenario={scenario} chain={chain} step={step} />
        {mayReject(chain, step) && <RejectButton scenario={scenario} step={step} done={done} />}
        {move !== null && <MoveButton scenario={scenario} chain={chain} step={step} move={move} done={done} />}
      </div>
      {headline !== null && (
        <p class="brief headline">
          <Explained words={EXPLAINED.headline}>
            <Text value={headline} />
          </Explained>
        </p>
      )}
      {points.length > 0 && (
        <ul class="brief points">
          {points.map((sentence) => (
            <li key={sentence}>
              <Text value={sentence} />
            </li>
          ))}
        </ul>
      )}
      <p class="muted">
        {status.meaning} <Ago at={row.recorded_at} />
      </p>
      <details class="small">
        <summary>Ids</summary>
        <Facts
          across
          facts={[
            [releaseWord(row), <Id value={row.release_id} />],
            madeRelease && row.parent_release_id !== null ? ['Parent', <Parent chain={chain} releaseId={row.parent_release_id} />] : null,
            ['Content', <Id value={row.content_id} />],
            row.component === undefined ? null : ['Component', <Text value={row.component} />],
          ]}
        />
      </details>
    </header>
  )
}

function Parent({ chain, releaseId }: { readonly chain: StepChain; readonly releaseId: string }) {
  return (
    <>
      <Id value={releaseId} /> <span class="muted">{madeBy(chain, releaseId)?.name}</span>
    </>
  )
}

function WhyCard({ view: { reason, design } }: { readonly view: StepView }) {
  return (
    <Card title="Why" aside={<span class="muted small">{reason.origin}</span>}>
      {reason.line !== undefined && <p class="muted">{reason.intro}:</p>}
      {reason.isQuoted ? <LongText value={reason.text} /> : <p class="muted">{reason.text}</p>}
      {reason.session !== null && (
        <p class="muted small">
          Session <Id value={reason.session} />
        </p>
      )}
      {design !== null && design.plan !== '' && <Titled title="Design" text={design.plan} />}
      {design !== null && design.howToUse !== '' && <Titled title="How to use" text={design.howToUse} />}
    </Card>
  )
}

function Titled({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <>
      <h3>{title}</h3>
      <LongText value={text} />
    </>
  )
}

function ChangesCard({ changes }: { readonly changes: readonly EntryChange[] }) {
  return (
    <Card title="What changes" aside={<span class="muted small">rules, skills and code of the agent</span>}>
      {changes.map(({ op, tone, id, entryKind, blocks }, place) => (
        <article key={place} class="stack tight mutation">
          <h3 class="row">
            <Badge tone={tone}>
              <Text value={op} />
            </Badge>
            <Text value={id} class="mono" />
            {entryKind !== '' && <Text value={entryKind} class="muted" />}
          </h3>
          {blocks.map((block) => (
            <Block key={block.kind} block={block} />
          ))}
        </article>
      ))}
    </Card>
  )
}

function Block({ block }: { readonly block: ChangeBlock }) {
  if (block.kind === 'diff') return <LongText value={block.after} />
  return <LongText value={block.text} mono={block.kind === 'code' || block.kind === 'settings'} />
}

/** What a reviewer needs before promoting: what the change covers, and what it requires of a machine. */
function NotesCard({ view: { review, setup } }: { readonly view: StepView }) {
  if (review === null && setup.own.length + setup.refused.length === 0) return null
  return (
    <Card title="Review" aside={review?.result != null && <Text value={review.result} />}>
      {review?.failure != null && <Points title="Not reviewed" lines={[review.failure]} />}
      <Points title="Covered" lines={review?.covered ?? []} />
      <Points title="Not covered" lines={review?.uncovered ?? []} />
      <Points title="Read from the environment and not declared" lines={review?.undeclared ?? []} />
      <Points title="Left out of the proposal" lines={review?.dropped ?? []} />
      <Points title="Needs to be set up" lines={setup.own.map(setupLine)} />
      <Points title="Refused by the step" lines={setup.refused.map(({ item, reason }) => `${item}: ${reason}`)} />
    </Card>
  )
}

const setupLine = ({ kind, name, prompt }: SetupItem): string => [kind, name, prompt ?? ''].join(' ').trim()

function Points({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul class="points">
        {lines.slice(0, POINTS_MAX).map((line, place) => (
          <li key={place}>
            <Text value={line} />
          </li>
        ))}
      </ul>
    </>
  )
}
