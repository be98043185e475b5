/** As much of a browser as signing in needs: cookies by host, and redirects that are followed one at a time. */
import { send, type Answer } from '../../support/world.ts'

export class TestBrowser {
  readonly #jars = new Map<string, Map<string, string>>()

  /** Opened by a person, as an address that was typed. */
  async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { origin, pathname, search } = new URL(url)
    const answer = await send(origin, 'GET', pathname + search, { headers: { accept: 'text/html', ...this.cookies(url), ...headers } })
    this.#keep(url, answer)
    return answer
  }

  /** What a page of the service does. */
  async act(method: string, url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { origin, pathname, search } = new URL(url)
    const own = { origin, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', accept: 'application/json' }
    const answer = await send(origin, method, pathname + search, { headers: { ...own, ...this.cookies(url), ...headers } })
    this.#keep(url, answer)
    return answer
  }

  /** Follows redirects while the address is not the one to stop at. Answers the address where it stopped, and the answer before. */
  async follow(url: string, stopsAt: (url: string) => boolean): Promise<{ readonly url: string; readonly answer: Answer | null }> {
    let answer: Answer | null = null
    for (let at = url, steps = 0; ; steps += 1) {
      if (stopsAt(at) || steps > 12) return { url: at, answer }
      answer = await this.open(at)
      const { location } = answer.headers
      if (location === undefined) return { url: at, answer }
      at = new URL(location, at).href
    }
  }

  cookies(url: string): Readonly<Record<string, string>> {
    const all = [...this.#jar(url)].map(([name, value]) => `${name}=${value}`)
    return all.length === 0 ? {} : { cookie: all.join('; ') }
  }

  cookie(url: string, name: string): string | undefined {
    return this.#jar(url).get(name)
  }

  put(url: string, name: string, value: string): void {
    this.#jar(url).set(name, value)
  }

  #keep(url: string, { headers }: Answer): void {
    for (const line of headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';', 1)
      const at = pair.indexOf('=')
      const isGone = /max-age=0/i.test(line) || /expires=thu, 01 jan 1970/i.test(line)
      if (isGone) this.#jar(url).delete(pair.slice(0, at))
      else this.#jar(url).set(pair.slice(0, at), pair.slice(at + 1))
    }
  }

  #jar(url: string): Map<string, string> {
    const { host } = new URL(url)
    const jar = this.#jars.get(host) ?? new Map<string, string>()
    this.#jars.set(host, jar)
    return jar
  }
}
