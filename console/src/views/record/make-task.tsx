/** Makes an exchange a task, by which changes are measured from then on: a dialog asks what the agent is asked and what a good answer does. */
import { useId, useState } from 'preact/hooks'
import { TASK_ROLES } from '../../../../src/presentation/index.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Options } from '../../ui/options.tsx'
import { Text } from '../../ui/text.tsx'

interface MakeTaskProps {
  readonly scenario: string
  readonly id: string
  /** What the user said last. */
  readonly asked: string
}

export function MakeTask({ scenario, id, asked }: MakeTaskProps) {
  const session = useSession()
  const fields = useId()
  const [isAsked, setAsked] = useState(false)
  const [made, setMade] = useState<string | null>(null)
  const [prompt, setPrompt] = useState(asked)
  const [rubric, setRubric] = useState('')
  const [role, setRole] = useState<(typeof TASK_ROLES)[number] | null>(null)
  const act = async (): Promise<void> => {
    const task = await session.service(scenario).createTask({
      record_id: id,
      ...(prompt !== asked && { prompt }),
      ...(rubric.trim() !== '' && { rubric }),
      ...(role !== null && { role }),
    })
    setMade(task.name)
  }
  return (
    <div class="row">
      <Button onClick={() => setAsked(true)}>Make it a task</Button>
      <span role="status">
        {made !== null && (
          <>
            It is the task{' '}
            <a href={hrefOf(placeIn(scenario, 'tasks', made))}>
              <Text value={made} />
            </a>{' '}
            now. Steps play it from the next start of the service on.
          </>
        )}
      </span>
      {isAsked && (
        <Confirm
          title="Make this exchange a task?"
          verb="Make it a task"
          isReady={prompt.trim() !== ''}
          act={act}
          close={() => setAsked(false)}
        >
          <p>From the next start of the service on, changes are measured by it.</p>
          <label for={`${fields}-prompt`}>What the agent is asked</label>
          <textarea
            id={`${fields}-prompt`}
            rows={4}
            maxLength={TEXT_CHARACTERS_MAX}
            value={prompt}
            onInput={({ currentTarget }) => setPrompt(currentTarget.value)}
          />
          <label for={`${fields}-rubric`}>What a good answer does; a model grades by it</label>
          <textarea
            id={`${fields}-rubric`}
            rows={3}
            maxLength={TEXT_CHARACTERS_MAX}
            value={rubric}
            placeholder="Names the city and the day. Promises no hour."
            onInput={({ currentTarget }) => setRubric(currentTarget.value)}
          />
          <label for={`${fields}-role`}>Its role</label>
          <select
            id={`${fields}-role`}
            value={role ?? ''}
            onChange={({ currentTarget }) => setRole(TASK_ROLES.find((each) => each === currentTarget.value) ?? null)}
          >
            <option value="">gate, or that of a task that says nearly the same</option>
            <Options of={TASK_ROLES} />
          </select>
        </Confirm>
      )}
    </div>
  )
}

/** As the service takes them. */
const TEXT_CHARACTERS_MAX = 20_000
