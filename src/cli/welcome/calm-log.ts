/** The log while somebody watches: calls and steps that went well are on the console, what did not is one line. */
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
