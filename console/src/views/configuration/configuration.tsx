/** The configuration as the service read it at its start: every setting, its value, and where it comes from. */
import { counted } from '../../../../src/presentation/index.ts'
import { isAbout, TOPICS, valueText, type ConfigurationKey, type ConfigurationTopic } from '../../data/configuration.ts'
import { usePolled } from '../../poll.ts'
import { useFilter } from '../../route.ts'
import { Toggle } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { shortened, Text } from '../../ui/text.tsx'

const CHOICES = [
  ['', 'All'],
  ['set', 'Set here'],
  ['budgets', 'Budgets'],
  ['rollout', 'Rollout'],
] as const

export function ConfigurationView() {
  const { value, said } = usePolled('configuration', (service) => service().configuration(), null)
  const [words, choice] = [useFilter('name'), useFilter('type')]
  const needle = words.value.trim().toLowerCase()
  const keys = (value?.keys ?? []).filter((one) => isChosen(one, choice.value) && one.key.toLowerCase().includes(needle))
  return (
    <div class="stack configuration">
      <div class="row">
        <h1>Configuration</h1>
        <span class="muted">{value !== null && counted(keys.length, 'setting')}</span>
        <span class="spring" />
        <span class="row" role="group" aria-label="Which settings">
          {CHOICES.map(([name, title]) => (
            <Toggle key={name} isOn={choice.value === name} set={() => choice.choose(name)}>
              {title}
            </Toggle>
          ))}
        </span>
        <input
          data-filter
          aria-label="Filter by name"
          placeholder="Filter by name"
          value={words.value}
          onInput={(event) => words.type(event.currentTarget.value)}
        />
      </div>
      <Notice said={said} />
      <p class="muted">
        What is in force. A change takes effect after a restart, of some settings after SIGHUP; svc config print shows what the next start
        would read.
      </p>
      {value !== null && (
        <Card title="Answers come from">
          <Facts
            facts={[
              ['Runtime', <Text value={value.upstream.runtime} />],
              value.upstream.url === null ? null : ['Address', <Text value={value.upstream.url} />],
              ['Known from', <Text value={value.upstream.found} />],
              ['Recipes', <Text value={value.recipes.map(({ name }) => name).join(', ')} />],
            ]}
          />
        </Card>
      )}
      {keys.length > 0 && <Keys keys={keys} />}
      {value !== null && keys.length === 0 && <p class="muted">No setting fits.</p>}
    </div>
  )
}

function isChosen(key: ConfigurationKey, choice: string): boolean {
  if (choice === 'set') return key.origin !== 'default'
  const topic = isTopic(choice) ? choice : null
  return topic === null || isAbout(key, topic)
}

const isTopic = (name: string): name is ConfigurationTopic => Object.hasOwn(TOPICS, name)

const VALUE_CHARACTERS = 300

export function Keys({ keys }: { readonly keys: readonly ConfigurationKey[] }) {
  return (
    <Table columns={['Setting', 'Value', 'From']}>
      {keys.map(({ key, value, origin }) => (
        <tr key={key}>
          <td data-label="Setting" class="mono">
            <Text value={key} />
          </td>
          <td data-label="Value">
            {value === null ? <span class="muted">none</span> : <Text value={shortened(valueText(value), VALUE_CHARACTERS)} />}
          </td>
          <td data-label="From" class="muted">
            <Text value={origin} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
