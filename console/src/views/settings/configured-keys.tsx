/** The settings of a topic as the service read them. */
import { keysAbout, type ConfigurationTopic } from '../../data/configuration.ts'
import { usePolled } from '../../poll.ts'
import { Notice } from '../../ui/notice.tsx'
import { Keys } from '../configuration/configuration.tsx'

interface KeysProps {
  readonly topic: ConfigurationTopic
  readonly recipe: string | null
}

/** A token that may not read the configuration sees why in a line. */
export function ConfiguredKeys({ topic, recipe }: KeysProps) {
  const { value, said } = usePolled('configuration', (service) => service().configuration(), null)
  if (value === null) return <Notice said={said} />
  const keys = keysAbout(value, topic, recipe)
  return keys.length === 0 ? <p class="muted">Nothing is configured.</p> : <Keys keys={keys} />
}
