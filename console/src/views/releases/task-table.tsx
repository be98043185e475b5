/** Both sides task by task. One task can be opened: what the agent said as served and with the change, and the words of the evaluator. */
import {
  EXPLAINED,
  isRecord,
  playedEpisode,
  taskScoresSummary,
  textAt,
  type EpisodePlace,
  type PlayedEpisode,
  type TaskScores,
} from '../../../../src/presentation/index.ts'
import { ServiceFailure, type Svc } from '@svc-ai/client'
import type { StepChain, StepProps } from '../../data/chain.ts'
import { usePolled } from '../../poll.ts'
import { useFilter } from '../../route.ts'
import { Explained } from '../../ui/explained.tsx'
import { Notice } from '../../ui/notice.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { recordPath, textIn } from './step-files.tsx'
import './task-table.css'

interface TaskTableProps extends Pick<StepProps, 'scenario' | 'chain'> {
  readonly rows: readonly TaskScores[]
}

export function TaskTable({ scenario, chain, rows }: TaskTableProps) {
  const open = useFilter('task')
  return (
    <details open>
      <summary class="small">Task by task: {taskScoresSummary(rows)}</summary>
      <table class="task-scores">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">
              <Explained words={EXPLAINED.before}>Before</Explained>
            </th>
            <th scope="col">
              <Explained words={EXPLAINED.after}>After</Explained>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <TaskRow
              key={row.task}
              {...{ scenario, chain, row }}
              isOpen={open.value === row.task}
              toggle={() => open.choose(open.value === row.task ? '' : row.task)}
            />
          ))}
        </tbody>
      </table>
    </details>
  )
}

interface TaskRowProps extends Omit<TaskTableProps, 'rows'> {
  readonly row: TaskScores
  readonly isOpen: boolean
  readonly toggle: () => void
}

function TaskRow({ scenario, chain, row, isOpen, toggle }: TaskRowProps) {
  const { task, before, after, word, episodes, pairs } = row
  const isKept = episodes.before !== null || episodes.after !== null
  return (
    <>
      <tr>
        <th scope="row">
          {isKept ? (
            <button type="button" class="link" aria-expanded={isOpen} onClick={toggle}>
              <Text value={task} />
            </button>
          ) : (
            <Text value={task} />
          )}
        </th>
        <td class="number">
          <Explained words={`${EXPLAINED.before} ${pairs}.`}>{before ?? 'not played'}</Explained>
        </td>
        <td class="number">
          <Explained words={`${EXPLAINED.after} ${pairs}.`}>{after ?? 'not played'}</Explained> <span class="muted">{word}</span>
        </td>
      </tr>
      {isOpen && isKept && (
        <tr>
          <td colSpan={3}>
            <Both {...{ scenario, chain, row }} />
          </td>
        </tr>
      )}
    </>
  )
}

function Both({ scenario, chain, row: { task, episodes } }: Omit<TaskRowProps, 'isOpen' | 'toggle'>) {
  const { value, said } = usePolled(
    `episodes ${scenario} ${episodes.before?.record} ${episodes.after?.record} ${task}`,
    async (service) => {
      const [before, after] = await Promise.all([episodes.before, episodes.after].map((place) => readIn(service(scenario), chain, place)))
      return { before, after }
    },
    null,
  )
  if (said !== null) return <Notice said={said} />
  if (value === null) return <p class="muted">Reading …</p>
  const prompt = value.after?.prompt ?? value.before?.prompt ?? ''
  return (
    <div class="stack tight">
      {prompt !== '' && (
        <blockquote class="quote">
          <LongText value={prompt} />
        </blockquote>
      )}
      <div class="sides" role="group" aria-label="Both answers">
        <Side title="As served" episode={value.before ?? null} />
        <Side title="With the change" episode={value.after ?? null} />
      </div>
    </div>
  )
}

/** Null where nothing was kept, or what was kept was removed. A score that was known from before was played by an earlier step. */
async function readIn(service: Svc, { steps }: StepChain, place: EpisodePlace | null): Promise<PlayedEpisode | null> {
  const step = steps.find(({ row }) => place !== null && textAt(row.metrics, 'step_record') === place.record)
  if (place === null || step === undefined) return null
  try {
    const file: unknown = JSON.parse(textIn(await service.text(recordPath(step.id), { path: `${place.folder}/episode.json` })) || 'null')
    return isRecord(file) ? playedEpisode(file) : null
  } catch (error) {
    if (error instanceof ServiceFailure && error.code === 'unknown_file') return null
    throw error
  }
}

function Side({ title, episode }: { readonly title: string; readonly episode: PlayedEpisode | null }) {
  return (
    <section class="stack tight" aria-label={title}>
      <h3>{title}</h3>
      {episode === null ? (
        <p class="muted">Its record was not kept.</p>
      ) : (
        <>
          <p class="muted small">
            <Explained words={EXPLAINED.episode}>Score {episode.score}</Explained>
            {episode.words !== null && (
              <>
                : <Text value={episode.words} />
              </>
            )}
          </p>
          {episode.answer === '' ? <p class="muted">The agent said nothing.</p> : <LongText value={episode.answer} />}
        </>
      )}
    </section>
  )
}
