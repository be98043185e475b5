/** The log as lines for a person at a terminal. Successful reads are left out: the console and the terminal ask again and again. */
import type { Json, JsonObject } from '../../contract/index.ts'
import { showHiddenLine } from '../../kit/index.ts'

export interface LineStyle {
  readonly colours: boolean
}

/** Null for what is not shown. `at` is in seconds. */
export function personLine(level: string, event: string, fields: JsonObject, at: number, style: LineStyle): string | null {
  const words = event === 'request' ? requestWords(fields, style) : eventWords(level, event, fields, style)
  return words === null ? null : `${paint(clockText(at), DIM, style)}  ${words}\n`
}

const METHOD_CHARACTERS = 6

/** Method, route, scenario, status, milliseconds, tokens; of a refusal its code and cause. */
function requestWords(fields: JsonObject, style: LineStyle): string | null {
  const { method, route, path, status, ms, scenario, input_tokens: input, output_tokens: output, code, cause } = fields
  const answered = typeof status === 'number' ? status : 0
  if ((method === 'GET' || method === 'HEAD' || method === 'OPTIONS') && answered < 400) return null
  const words = [
    shown(method).padEnd(METHOD_CHARACTERS),
    shown(path ?? route),
    scenario === undefined ? '' : shown(scenario),
    paint(shown(status), answered >= 500 ? RED : answered >= 400 ? YELLOW : GREEN, style),
    typeof ms === 'number' ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : '',
    input === undefined && output === undefined ? '' : `${shown(input ?? '?')} → ${shown(output ?? '?')} tokens`,
    [code, cause]
      .filter((text) => text !== undefined)
      .map(shown)
      .join(': '),
  ]
  return words.filter((word) => word !== '').join('  ')
}

function eventWords(level: string, event: string, { message, stack, ...fields }: JsonObject, style: LineStyle): string {
  const name = showHiddenLine(event.replaceAll('_', ' '))
  const painted = level === 'info' ? name : paint(name, level === 'error' ? RED : YELLOW, style)
  const facts = Object.entries(fields).map(([field, value]) => `${showHiddenLine(field.replaceAll('_', ' '))} ${shown(value)}`)
  const said = [...(message === undefined ? [] : [shown(message)]), ...(facts.length === 0 ? [] : [facts.join(', ')])]
  const lines = typeof stack === 'string' ? stack.split('\n').map((line) => `\n    ${showHiddenLine(line)}`) : []
  return [painted, ...said].join(': ') + lines.join('')
}

const shown = (value: Json | undefined): string => showHiddenLine(typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** Of this machine's day: a person compares it with a watch. */
const clockText = (at: number): string => new Date(at * 1000).toTimeString().slice(0, 8)

const [DIM, RED, GREEN, YELLOW] = [2, 31, 32, 33]
const paint = (text: string, colour: number, { colours }: LineStyle): string => (colours ? `\u001B[${colour}m${text}\u001B[0m` : text)
