/** Asks the request of an exchange once more, of another model or with the texts of another release, and shows both answers. Nothing is stored. */
import { useId, useState } from 'preact/hooks'
import type { FullRecord } from '@svc-ai/client'
import { isObject, replayOf, type ReplayedTexts } from '../../../../src/dialects/readers/index.ts'
import { counted, duration } from '../../../../src/presentation/index.ts'
import { noticeOf, saidOf, type FailureNotice } from '../../failure.ts'
import { madeBy } from '../../data/chain.ts'
import { useChain } from '../../data/use-chain.ts'
import { serviceFor, useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import { Answers } from './conversation.tsx'
import { exchangeOf, type ShownExchange } from './exchange.ts'

interface ReplayProps {
  readonly scenario: string
  readonly record: FullRecord
  /** As it was stored. */
  readonly exchange: ShownExchange
}

export function Replay(props: ReplayProps) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen) return <ReplayForm {...props} />
  return (
    <div class="row">
      <Button onClick={() => setOpen(true)}>Replay</Button>
    </div>
  )
}

interface Replayed {
  readonly exchange: ShownExchange
  readonly title: string
  readonly texts: ReplayedTexts | null
}

/** As long as the service waits for a model by default. */
const ANSWER_SECONDS_MAX = 300

function ReplayForm({ scenario, record, exchange }: ReplayProps) {
  const { token } = useSession()
  const { value: chain } = useChain(scenario, null)
  const fields = useId()
  const stored = record.summary?.model ?? ''
  const [model, setModel] = useState(stored)
  const [release, setRelease] = useState('')
  const [isAsking, setAsking] = useState(false)
  const [said, setSaid] = useState<FailureNotice | null>(null)
  const [replayed, setReplayed] = useState<Replayed | null>(null)
  const own = record.artifact_ref
  const releases = chain?.hasFiles === true && own !== null ? chain.steps.filter((step) => madeBy(chain, step.row.release_id) === step) : []
  const ask = async (): Promise<void> => {
    setAsking(true)
    setSaid(null)
    setReplayed(null)
    try {
      const service = serviceFor(token, { scenario, timeoutSeconds: ANSWER_SECONDS_MAX })
      const [before, after] =
        release === '' || own === null ? [] : await Promise.all([own, release].map(async (id) => (await service.manifest(id)).files))
      const texts = before !== undefined && after !== undefined ? { before, after } : null
      const payload = isObject(record.payload) ? record.payload : {}
      const replay = replayOf(payload, stored, { ...(model !== stored && { model }), ...(texts !== null && { texts }) })
      if (replay === null) throw new Error('Only an exchange with a model can be asked again.')
      const begun = performance.now()
      const response = await service.evaluate(replay.path, replay.body)
      const name = releases.find((step) => step.row.release_id === release)?.name
      setReplayed({
        exchange: exchangeOf({ ...replay.body, response }),
        title: [`Now: ${replay.model}`, ...(name === undefined ? [] : [name]), duration((performance.now() - begun) / 1000)].join(', '),
        texts: texts === null ? null : replay.texts,
      })
    } catch (error) {
      setSaid(error instanceof Error && error.message.startsWith('Only an exchange') ? noticeOf(error.message) : saidOf(error))
    }
    setAsking(false)
  }
  return (
    <section class="stack tight" aria-label="Replay">
      <h3>Replay</h3>
      <div class="row">
        <label class="field" for={`${fields}-model`}>
          <span>Model</span>
          <input id={`${fields}-model`} value={model} onInput={({ currentTarget }) => setModel(currentTarget.value)} />
        </label>
        {releases.length > 0 && (
          <label class="field" for={`${fields}-release`}>
            <span>Release</span>
            <select id={`${fields}-release`} value={release} onChange={({ currentTarget }) => setRelease(currentTarget.value)}>
              <option value="">as it was asked</option>
              {releases.map(({ name, row }) => (
                <option key={row.release_id} value={row.release_id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <button
          type="button"
          class="button primary"
          disabled={isAsking || (model.trim() === '' && stored !== '')}
          onClick={() => void ask()}
        >
          {isAsking ? 'Asking …' : 'Ask again'}
        </button>
      </div>
      <p class="muted small">The model is asked and paid; nothing is stored.</p>
      <Notice said={said} />
      {replayed !== null && <Compared {...{ record, exchange, replayed }} />}
    </section>
  )
}

function Compared({ record, exchange, replayed }: Omit<ReplayProps, 'scenario'> & { readonly replayed: Replayed }) {
  const { summary } = record
  const took = summary === undefined ? '' : `, ${duration(summary.latency_ms / 1000)}`
  return (
    <>
      {replayed.texts !== null && (
        <p class="muted small">
          <Text value={textsLine(replayed.texts)} />
        </p>
      )}
      <div class="sides" role="group" aria-label="Both answers">
        <Side title={`Stored: ${summary?.model ?? 'model unknown'}${took}`} exchange={exchange} />
        <Side title={replayed.title} exchange={replayed.exchange} />
      </div>
    </>
  )
}

function textsLine({ replaced, absent }: ReplayedTexts): string {
  const unused =
    absent.length === 0
      ? ''
      : `; ${counted(absent.length, 'other changed file')} ${absent.length === 1 ? 'does' : 'do'} not stand in this request`
  if (replaced.length === 0) return `No text that this release changes stands in this request, so the model was asked the same${unused}.`
  return `Asked with ${replaced.join(', ')} as in that release${unused}.`
}

function Side({ title, exchange }: { readonly title: string; readonly exchange: ShownExchange }) {
  return (
    <section class="stack tight" aria-label={visible(title)}>
      <h4>
        <Text value={title} />
      </h4>
      <Answers answers={exchange.answers} />
    </section>
  )
}
