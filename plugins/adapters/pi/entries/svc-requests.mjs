/**
 * Two commands for a session that was started by svc-pi: /svc asks the service for a change of this harness and follows it to its result,
 * /svc-versions lists what came of earlier ones. Outside such a session neither exists.
 */
const FETCH_MILLISECONDS = 10_000
const POLL_MILLISECONDS = 5000
/** Thirty minutes of polls. */
const POLLS_MAX = 360
const VERSIONS_SHOWN = 20
const TEXT_CHARACTERS_MAX = 60
const REASON_CHARACTERS_MAX = 500
const UNANSWERED = 'The service did not answer. svc-pi doctor says what is wrong.'

export default function requests(pi) {
  const { SVC_WRAPPER: wrapper, SVC_PROXY_URL: url, SVC_PROXY_KEY: key, PI_OFFLINE: offline } = process.env
  const { SVC_RELEASE: installed = '', SVC_SESSION: session = '' } = process.env
  if (!wrapper || !url || offline) return
  const ended = new AbortController()
  pi.on('session_shutdown', () => ended.abort())

  pi.registerCommand('svc', {
    description: 'Ask the service for a change of this harness: /svc <what to change>',
    handler: async (words, ctx) => {
      const text = words.trim()
      if (text === '') return tell(ctx, 'Say what to change: /svc <what to change>', 'warning')
      const { status, body } = await ask('/svc/train', { text, session, release_id: installed })
      const id = body?.agent_record_id
      if (typeof id !== 'string') return tell(ctx, reasonIn(status, body), 'error')
      tell(ctx, `Accepted as request ${id}.`, 'info')
      // Without somebody to tell there is nothing to follow: the process ends with its prompt.
      if (ctx.hasUI) follow(id, ctx).catch(() => {})
    },
  })

  pi.registerCommand('svc-versions', {
    description: 'List the versions of this harness',
    handler: async (_words, ctx) => {
      const { status, body } = await ask('/svc/harness/releases')
      if (!Array.isArray(body?.releases)) return tell(ctx, reasonIn(status, body), 'error')
      tell(ctx, body.releases.slice(-VERSIONS_SHOWN).map(lineOf).join('\n') || 'There are no versions yet.', 'info')
    },
  })

  /** Never throws: an answer that did not come has status 0. */
  async function ask(path, sent) {
    try {
      const answer = await fetch(`${url}${path}`, {
        method: sent === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
        signal: AbortSignal.any([ended.signal, AbortSignal.timeout(FETCH_MILLISECONDS)]),
      })
      return { status: answer.status, body: await answer.json() }
    } catch {
      return { status: 0, body: null }
    }
  }

  /** In a session without a UI a notice is lost, a message is not. */
  function tell(ctx, text, type) {
    if (ctx.hasUI) ctx.ui.notify(text, type)
    else pi.sendMessage({ customType: 'svc', content: text, display: true })
  }

  /** Polls that fail are polls that say nothing yet; only an end of the request ends this. */
  async function follow(id, ctx) {
    const place = `svc-${id}`
    for (let polls = 0; polls < POLLS_MAX && !ended.signal.aborted; polls += 1) {
      const { status, body } = await ask(`/svc/harness/requests/${encodeURIComponent(id)}/progress`)
      if (ended.signal.aborted) return
      if (body?.settled === true || status === 404) {
        ctx.ui.setStatus(place, undefined)
        return tell(ctx, status === 404 ? `Request ${id} is gone.` : resultOf(id, body), 'info')
      }
      if (status === 200) ctx.ui.setStatus(place, `svc: ${plain(body?.meaning ?? body?.state ?? 'waiting')}`)
      await untilNextPoll()
    }
    if (ended.signal.aborted) return
    ctx.ui.setStatus(place, undefined)
    tell(ctx, `Request ${id} is still being worked on. /svc-versions will list its result.`, 'info')
  }

  function lineOf({ step, release_id: release, result, current, training_request: request }) {
    const marks = [release === installed && 'installed', current === true && 'served'].filter(Boolean).join(', ')
    const columns = [`v${step}`.padEnd(4), plain(release ?? '-', 12).padEnd(12), plain(result ?? '-').padEnd(9), marks.padEnd(17)]
    return `${columns.join('  ')}  ${plain(request?.text ?? '')}`.trimEnd()
  }
}

const OUTCOMES = new Map([
  ['published', 'is published: run svc-pi update, then start svc-pi again'],
  ['pending', 'is ready for review: it is served once somebody promotes it'],
  ['rejected', 'was not selected'],
  ['skipped', 'changed nothing'],
  ['failed', 'failed'],
])

const resultOf = (id, { step, state }) =>
  `Request ${id} (v${step}) ${OUTCOMES.get(state) ?? 'is settled'}. svc-pi page v${step} shows what was done.`

function reasonIn(status, body) {
  if (status === 0) return UNANSWERED
  return plain(`The service refused (${status}): ${body?.error?.message ?? 'it gave no reason'}`, REASON_CHARACTERS_MAX)
}

/** One line without anything that a terminal would obey: these texts were written by others. */
const plain = (text, charactersMax = TEXT_CHARACTERS_MAX) =>
  String(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, charactersMax)

/** A process that is over does not stay for the next poll. */
const untilNextPoll = () => new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS).unref())
