/** `svc replay`: a stored request asked once more, of another model if one is named, with both answers beside each other. Nothing is stored. */
import type { FullRecord } from '@svc-ai/client'
import { invalid, isObject, type JsonObject } from '../../contract/index.ts'
import { claimingReader, dialects, tokensIn, written, type DialectSpec, type Part } from '../../dialects/index.ts'
import { duration, whole } from '../../presentation/index.ts'
import { sideBySide } from '../screen/columns.ts'
import { jsonText, oneLine, shellWord, shownLines } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { shortId } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface ReplayOptions extends RemoteOptions {
  readonly record: string
  readonly model?: string
}

/** As long as the service waits for a model by default. */
const ANSWER_SECONDS_MAX = 300

export function replay(options: ReplayOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const { record: id, model } = options
    const scenario = await chooseScenario(service, options.scenario, (name) => `replay ${shellWord(id)} --scenario ${shellWord(name)}`)
    const svc = service.in(scenario, ANSWER_SECONDS_MAX)
    const record = await svc.record(id)
    const stored = storedExchange(record)
    const asked = requestOf(stored, model)
    const begun = performance.now()
    const answer = plainJson(await svc.evaluate(asked.path, asked.body))
    const seconds = (performance.now() - begun) / 1000
    const now = answerOf(stored.dialect, answer, seconds)
    const before = answerOf(stored.dialect, stored.answer, (record.summary?.latency_ms ?? 0) / 1000)
    if (options.json === true)
      surroundings.out(jsonText({ scenario, record: id, model: asked.model, stored: stored.answer, replayed: answer }, 2))
    else {
      const release = record.artifact_ref === null ? '' : `, release ${shortId(record.artifact_ref)}`
      const left = { title: `stored: ${oneLine(stored.model)}${release}${before.took}`, text: before.text }
      const right = { title: `now: ${oneLine(asked.model)}${now.took}`, text: now.text }
      await surroundings.page(sideBySide(left, right, surroundings))
    }
    return EXIT.fine
  })
}

interface StoredExchange {
  readonly dialect: DialectSpec
  readonly request: JsonObject
  readonly answer: JsonObject
  readonly model: string
}

/** The payload is the request with its answer under `response`. */
function storedExchange({ request_type, payload, summary }: FullRecord): StoredExchange {
  const exchange = plainJson(payload)
  const reader = request_type === 'inference' ? claimingReader(exchange) : null
  const dialect = Object.values(dialects).find((one) => one.writeCount === undefined && one.reader === reader)
  const { response: answer, ...request } = exchange
  if (dialect === undefined || !isObject(answer))
    throw invalid('not_replayable', 'only an exchange with a model can be asked again; this record is none')
  const named = request['model']
  return { dialect, request, answer, model: typeof named === 'string' ? named : (summary?.model ?? '') }
}

/** It came as JSON. */
const plainJson = (value: Readonly<Record<string, unknown>>): JsonObject => JSON.parse(JSON.stringify(value))

/** Without what the service added to store it, and whole: an answer in pieces is hard to compare. */
function requestOf({ dialect, request, model: stored }: StoredExchange, wanted: string | undefined) {
  const { metadata, metadata_tags: _tags, stream: _stream, stream_options: _options, ...rest } = request
  const { tags: _own, ...own } = isObject(metadata) ? metadata : {}
  const model = wanted ?? stored
  const body = {
    ...rest,
    ...(Object.keys(own).length > 0 && { metadata: own }),
    ...(wanted !== undefined && request['model'] !== undefined && { model: wanted }),
  }
  return { path: dialect.askPath(model), body, model }
}

function answerOf(dialect: DialectSpec, answer: JsonObject, seconds: number): { readonly text: string; readonly took: string } {
  const { input, output } = tokensIn(dialect, answer)
  const tokens =
    input === null && output === null ? '' : `, ${input === null ? '?' : whole(input)} → ${output === null ? '?' : whole(output)} tokens`
  const turns = dialect.reader.readAnswer(answer)
  const text = turns.flatMap(({ parts }) => parts.map(partText)).join('\n')
  return { text: shownLines(text), took: `${seconds > 0 ? `, ${duration(seconds)}` : ''}${tokens}` }
}

function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text
    case 'thinking':
      return part.text === null ? '[thinking, withheld]' : `[thinking] ${part.text}`
    case 'call':
      return `[calls ${part.name}] ${written(part.input)}`
    default:
      return `[${part.kind}]`
  }
}
