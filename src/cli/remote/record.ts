/** One record to read: what it is in a few lines, then all that was stored, long texts as the lines they are. */
import { ago } from '../../presentation/index.ts'
import type { FullRecord } from '@svc-ai/client'
import { stringify } from 'yaml'
import { paint } from '../screen/paint.ts'
import { jsonText, oneLine, shownLines } from '../screen/text.ts'
import { EXIT } from '../surroundings.ts'
import type { ConfigOptions, Surroundings } from '../surroundings.ts'
import { modelOf, tokensOf, tookOf } from './row-words.ts'

export function showRecord(record: FullRecord, { json }: Pick<ConfigOptions, 'json'>, surroundings: Surroundings): number {
  if (json === true) surroundings.out(jsonText(record, 2))
  else {
    const known = factsOf(record).filter(([, text]) => text !== '')
    const facts = known.map(([name, text]) => `${paint(name.padEnd(8), 'quiet', surroundings)}  ${text}`)
    surroundings.out([...facts, '', readable(record.payload)].join('\n'))
  }
  return EXIT.fine
}

function factsOf(record: FullRecord): readonly (readonly [name: string, text: string])[] {
  return [
    ['record', oneLine(record.agent_record_id)],
    ['number', String(record.sequence)],
    ['type', oneLine(record.request_type)],
    ['stored', `${new Date(record.created_at * 1000).toISOString()} (${ago(record.created_at)})`],
    ['model', modelOf(record)],
    ['took', tookOf(record)],
    ['tokens', tokensOf(record)],
    ['score', record.score === null ? '' : String(record.score)],
    ['about', record.references.map(oneLine).join(', ')],
    ['release', record.artifact_ref === null ? '' : oneLine(record.artifact_ref)],
  ]
}

const readable = (payload: FullRecord['payload']): string =>
  shownLines(stringify(payload, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd())
