/** The tasks that candidates of a scenario are measured by: role, family, status and check of each, one of them whole, and what a person decides. */
import { useState } from 'preact/hooks'
import { ServiceFailure, type ListedTask, type ShownTask, type Svc, type TaskChange } from '@svc-ai/client'
import { TASK_ROLES, tasksSummary, taskView } from '../../../../src/presentation/index.ts'
import { saidOf, type FailureNotice } from '../../failure.ts'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Options } from '../../ui/options.tsx'
import { Table } from '../../ui/table.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'

interface TasksProps {
  readonly scenario: string
  /** The task that is shown. */
  readonly id: string | null
}

/** A person's decision, and what came of it. */
interface Decision {
  readonly decide: (name: string, change: TaskChange) => Promise<void>
  readonly isBusy: boolean
}

const AGAIN_SECONDS = 10

export function Tasks({ scenario, id }: TasksProps) {
  const { service } = useSession()
  const { value, said, refresh } = usePolled(`tasks of ${scenario}`, (of) => tasksIn(of(scenario)), AGAIN_SECONDS)
  const tasks = value?.tasks ?? null
  const [isBusy, setBusy] = useState(false)
  const [refused, setRefused] = useState<FailureNotice | null>(null)
  const [done, setDone] = useState<string | null>(null)
  const decide = async (name: string, change: TaskChange): Promise<void> => {
    setBusy(true)
    setRefused(null)
    try {
      await service(scenario).changeTask(name, change)
      setDone(
        `${visible(name)} is ${change.status ?? `of role ${change.role ?? ''}`} now. Steps go by it from the next start of the service on.`,
      )
      await refresh()
    } catch (error) {
      setRefused(saidOf(error))
    }
    setBusy(false)
  }
  return (
    <div class="stack">
      <div class="row">
        <h1>Tasks</h1>
        {tasks !== null && <span class="muted">{tasksSummary(tasks)}</span>}
      </div>
      <Notice said={refused ?? said} />
      <p class="muted small" role="status">
        {done ?? 'Accepted tasks and those written by hand are used.'}
      </p>
      {value?.tasks === null && <Empty title="No folder of tasks" hint="Set evolution.tasks_dir; svc tasks mine fills a folder." />}
      {tasks?.length === 0 && <Empty title="No tasks yet" hint="Find some in a repository: svc tasks mine" />}
      {tasks !== null && tasks.length > 0 && <List scenario={scenario} tasks={tasks} isBusy={isBusy} decide={decide} />}
      {id !== null && <Shown key={id} scenario={scenario} name={id} />}
    </div>
  )
}

/** Null where the recipe reads no folder of tasks. */
async function tasksIn(service: Svc): Promise<{ readonly tasks: readonly ListedTask[] | null }> {
  try {
    return { tasks: await service.tasks() }
  } catch (error) {
    if (error instanceof ServiceFailure && error.code === 'no_tasks') return { tasks: null }
    throw error
  }
}

function List({ scenario, tasks, isBusy, decide }: { readonly scenario: string; readonly tasks: readonly ListedTask[] } & Decision) {
  return (
    <Table columns={['Task', 'Role', 'Family', 'Status', 'Check', 'Decide']}>
      {tasks.map((task) => (
        <Row key={task.name} scenario={scenario} task={task} isBusy={isBusy} decide={decide} />
      ))}
    </Table>
  )
}

function Row({ scenario, task, isBusy, decide }: { readonly scenario: string; readonly task: ListedTask } & Decision) {
  const { status, role, check, isBad, mayAccept, mayDrop, mayChangeRole } = taskView(task)
  const { name, family } = task
  return (
    <tr>
      <td data-label="Task">
        <a href={hrefOf(placeIn(scenario, 'tasks', name))}>
          <Text value={name} />
        </a>
      </td>
      <td data-label="Role">
        {mayChangeRole && (
          <select
            aria-label={`Role of ${visible(name)}`}
            value={role}
            disabled={isBusy}
            onChange={({ currentTarget }) => {
              const wanted = TASK_ROLES.find((each) => each === currentTarget.value)
              if (wanted !== undefined) void decide(name, { role: wanted })
            }}
          >
            <Options of={TASK_ROLES} />
          </select>
        )}
      </td>
      <td data-label="Family">
        <Text value={family ?? ''} />
      </td>
      <td data-label="Status">
        <Badge tone={status.tone}>{status.word}</Badge>
      </td>
      <td data-label="Check" class={isBad ? 'failing' : ''}>
        <Text value={check} />
      </td>
      <td data-label="Decide">
        {mayAccept && (
          <Button onClick={() => void decide(name, { status: 'accepted' })}>
            Accept<span class="hidden-visually"> {visible(name)}</span>
          </Button>
        )}{' '}
        {mayDrop && (
          <Button onClick={() => void decide(name, { status: 'dropped' })}>
            Drop<span class="hidden-visually"> {visible(name)}</span>
          </Button>
        )}
      </td>
    </tr>
  )
}

function Shown({ scenario, name }: { readonly scenario: string; readonly name: string }) {
  const { value, said } = usePolled(`task ${scenario} ${name}`, (service) => service(scenario).task(name), null)
  return (
    <Card title={`Task ${visible(name)}`} aside={<a href={hrefOf(placeIn(scenario, 'tasks'))}>Close</a>}>
      <Notice said={said} />
      {value !== null && <Parts task={value} />}
    </Card>
  )
}

function Parts({ task: { prompt, origin, workspace, verify, reference } }: { readonly task: ShownTask }) {
  return (
    <>
      <LongText value={prompt} />
      <Facts
        facts={[
          origin === null ? null : ['Comes from', <Text value={origin} />],
          ['Workspace', <Paths paths={workspace} />],
          ['Verifier', <Paths paths={verify} />],
          ['Reference', <Paths paths={reference} />],
        ]}
      />
    </>
  )
}

const PATHS_SHOWN_MAX = 50

function Paths({ paths }: { readonly paths: readonly string[] }) {
  const more = paths.length - PATHS_SHOWN_MAX
  return paths.length === 0 ? (
    <span class="muted">none</span>
  ) : (
    <Text value={`${paths.slice(0, PATHS_SHOWN_MAX).join(', ')}${more > 0 ? `, and ${more} more` : ''}`} />
  )
}
