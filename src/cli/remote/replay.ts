/** `svc replay`: a stored request asked once more, of another model or with the texts of another release, with both answers beside each other. Nothing is stored. */
import type { FullRecord, Svc } from '@svc-ai/client'
import { invalid, type JsonObject } from '../../contract/index.ts'
import { dialects, replayOf, tokensIn, written, type DialectSpec, type Part, type Replay, type ReplayOrder } from '../../dialects/index.ts'
import { duration, whole } from '../../presentation/index.ts'
import { sideBySide } from '../screen/columns.ts'
import { jsonText, oneLine, shellWord, shownLines } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { findRelease, shortId } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface ReplayOptions extends RemoteOptions {
  readonly record: string
  readonly model?: string
  readonly release?: string
}

/** As long as the service waits for a model by default. */
const ANSWER_SECONDS_MAX = 300

export function replay(options: ReplayOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const { record: id, model, release } = options
    const scenario = await chooseScenario(service, options.scenario, (name) => `replay ${shellWord(id)} --scenario ${shellWord(name)}`)
    const svc = service.in(scenario, ANSWER_SECONDS_MAX)
    const record = await svc.record(id)
    const other =
      release === undefined ? null : await otherRelease(svc, record, release, service.command(`releases ${shellWord(scenario)}`))
    const stored = storedExchange(record, { ...(model !== undefined && { model }), ...(other !== null && { texts: other.texts }) })
    const asked = stored.replay
    const begun = performance.now()
    const answer = plainJson(await svc.evaluate(asked.path, asked.body))
    const seconds = (performance.now() - begun) / 1000
    const now = answerOf(stored.dialect, answer, seconds)
    const before = answerOf(stored.dialect, asked.answer, (record.summary?.latency_ms ?? 0) / 1000)
    if (options.json === true)
      surroundings.out(
        jsonText(
          {
            scenario,
            record: id,
            model: asked.model,
            ...(other !== null && { release_id: other.releaseId, texts: asked.texts }),
            stored: asked.answer,
            replayed: answer,
          },
          2,
        ),
      )
    else {
      const [own, instead] = [record.artifact_ref, other?.releaseId ?? null].map((ref) => (ref === null ? '' : `, release ${shortId(ref)}`))
      const left = { title: `stored: ${oneLine(asked.storedModel)}${own}${before.took}`, text: before.text }
      const right = { title: `now: ${oneLine(asked.model)}${instead}${now.took}`, text: now.text }
      const lines = other === null ? [] : [textsLine(asked.texts), '']
      await surroundings.page([...lines, sideBySide(left, right, surroundings)].join('\n'))
    }
    return EXIT.fine
  })
}

interface StoredExchange {
  readonly dialect: DialectSpec
  readonly replay: Replay
}

function storedExchange({ request_type, payload, summary }: FullRecord, order: ReplayOrder): StoredExchange {
  const again = request_type === 'inference' ? replayOf(plainJson(payload), summary?.model ?? '', order) : null
  const dialect = Object.values(dialects).find((one) => one.writeCount === undefined && one.reader === again?.reader)
  if (dialect === undefined || again === null)
    throw invalid('not_replayable', 'only an exchange with a model can be asked again; this record is none')
  return { dialect, replay: again }
}

/** It came as JSON. */
const plainJson = (value: Readonly<Record<string, unknown>>): JsonObject => JSON.parse(JSON.stringify(value))

/** The texts of the release that it was asked with, and of another one. */
async function otherRelease(svc: Svc, { artifact_ref: own }: FullRecord, wanted: string, list: string) {
  if (own === null) throw invalid('not_replayable', 'the record names no release that it was asked with; leave out --release')
  const { release_id: releaseId } = findRelease(await svc.releases(), wanted, list)
  const [before, after] = await Promise.all([svc.manifest(own), svc.manifest(releaseId)])
  return { releaseId, texts: { before: before.files, after: after.files } }
}

function textsLine({ replaced, absent }: Replay['texts']): string {
  const unused = absent.length === 0 ? '' : `; not in this request, so of no effect here: ${absent.map(oneLine).join(', ')}`
  return replaced.length === 0
    ? `no text that this release changes stands in this request, so the model was asked the same${unused}`
    : `asked with ${replaced.map(oneLine).join(', ')} as in that release${unused}`
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
