/**
 * Says when the service has a newer release of this harness than the one installed here, and offers to install it. It installs nothing
 * unasked, and outside a session that was started by svc-pi it does nothing at all.
 */
const FETCH_MILLISECONDS = 10_000
const UPDATE_MILLISECONDS = 600_000
const NOT_NOW = 'Not now'
const UPDATE = 'Update now'

export default function versionCheck(pi) {
  const { SVC_WRAPPER: wrapper, SVC_PROXY_URL: url, SVC_PROXY_KEY: key, SVC_RELEASE: installed, PI_OFFLINE: offline } = process.env
  if (!wrapper || !url || offline) return
  const ended = new AbortController()
  let told = installed

  /** True the first time a release is heard of that is not the installed one. */
  const isNews = (release) => {
    if (typeof release !== 'string' || release === '' || release === installed || release === told) return false
    told = release
    return true
  }

  pi.on('session_start', (event, ctx) => {
    // Nobody waits for the answer: a slow service must not keep a session from starting.
    if (event.reason === 'startup' && ctx.hasUI) void quietly(() => checkCatalog(ctx))
  })
  pi.on('after_provider_response', (event, ctx) => {
    void quietly(() => {
      if (ctx.hasUI && isNews(event.headers?.['x-svc-release-id'])) ctx.ui.notify(noticeOf(told), 'info')
    })
  })
  pi.on('session_shutdown', () => ended.abort())

  async function checkCatalog(ctx) {
    const release = newestPublished(await readCatalog())
    if (!isNews(release)) return
    ctx.ui.notify(noticeOf(release), 'info')
    // The first choice is the harmless one: the question may come up under the hands of someone who types.
    const choice = await ctx.ui.select('Update this harness?', [NOT_NOW, UPDATE], { signal: ended.signal })
    if (choice !== UPDATE) return
    const { code } = await pi.exec(wrapper, ['update'], { signal: ended.signal, timeout: UPDATE_MILLISECONDS })
    if (code === 0) ctx.ui.notify('Updated. Quit and start svc-pi again to work with the new release.', 'info')
    else ctx.ui.notify('The update did not go through. Run svc-pi update in a terminal to see why.', 'warning')
  }

  async function readCatalog() {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(FETCH_MILLISECONDS)])
    const answer = await fetch(`${url}/svc/harness/releases`, { headers: { authorization: `Bearer ${key}` }, signal })
    return answer.ok ? await answer.json() : {}
  }
}

/** The catalog is oldest first. */
const newestPublished = ({ releases = [] }) => releases.findLast(({ result, pending }) => result === 'published' && !pending)?.release_id

const noticeOf = (release) => `The service has a newer release of this harness (${release.slice(0, 12)}). To install it: svc-pi update`

/** Whatever fails here is no concern of the session. */
async function quietly(work) {
  try {
    await work()
  } catch {
    // The next session asks again.
  }
}
