/** The log during the welcome: only warnings and errors, one line each. Successes are on the console. */
import type { ServiceOptions } from '../../main.ts'
import { shown } from '../screen/text.ts'

type Log = NonNullable<ServiceOptions['log']>

export function calmLog(tell: (line: string) => void): Log {
  return {
    write(level, event, { message, ...fields }) {
      if (level === 'info') return
      const more = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
      tell(shown(`${event}${typeof message === 'string' ? `: ${message}` : ''}${more}`))
    },
    flush: () => undefined,
  }
}
