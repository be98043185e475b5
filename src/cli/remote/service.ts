/** A command's connection to the running service, and what to do next when it refuses or does not answer. */
import { connect, ServiceFailure, type Svc } from '@svc-ai/client'
import { ConfigProblem } from '../../config/index.ts'
import { ENV, isRefusal, unavailable } from '../../contract/index.ts'
import { oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { serviceAddress, type RemoteAddress, type RemoteOptions } from './address.ts'

export interface RemoteService extends RemoteAddress {
  readonly svc: Svc
  /** A model may take longer to answer than the service does. */
  readonly in: (scenario: string, timeoutSeconds?: number) => Svc
  /** A command to type next, with what says where the service is. */
  readonly command: (words: string) => string
}

/** Runs the work and answers its exit code; what stops it becomes one line that ends with what to do. */
export async function withService(
  options: RemoteOptions,
  surroundings: Surroundings,
  work: (service: RemoteService) => Promise<number>,
): Promise<number> {
  const place = await serviceAddress(options, surroundings)
  try {
    return await work(serviceAt(place, options))
  } catch (error) {
    surroundings.progress('')
    if (error instanceof ServiceFailure) {
      surroundings.err(oneLine(wordsFor(error, place)))
      return isUnreached(error) ? EXIT.misconfigured : EXIT.failed
    }
    if (!isRefusal(error)) throw error
    surroundings.err(oneLine(error.message))
    return error.kind === 'invalid' ? EXIT.misconfigured : EXIT.failed
  }
}

/** The same for a part of a command: what the service refuses is thrown in words that end with what to do. */
export async function fromService<T>(
  options: RemoteOptions,
  surroundings: Surroundings,
  work: (service: RemoteService) => Promise<T>,
): Promise<T> {
  const place = await serviceAddress(options, surroundings)
  try {
    return await work(serviceAt(place, options))
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error
    const words = oneLine(wordsFor(error, place))
    throw isUnreached(error) ? new ConfigProblem([words]) : unavailable('service_refused', words)
  }
}

/** A stop does not wait for an answer that is on its way. */
export function untilStopped(signal: AbortSignal, work: Promise<number>): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  signal.addEventListener('abort', () => resolve(EXIT.fine), { once: true })
  return Promise.race([promise, work])
}

function serviceAt(place: RemoteAddress, { url, config }: RemoteOptions): RemoteService {
  const where = [...(url === undefined ? [] : ['--url', url]), ...(config === undefined ? [] : ['-c', config])]
  return {
    ...place,
    svc: connect(place),
    in: (scenario, timeoutSeconds) => connect({ ...place, scenario, ...(timeoutSeconds !== undefined && { timeoutSeconds }) }),
    command: (words) => [`svc ${words}`, ...where.map(shellWord)].join(' '),
  }
}

/** Nothing answered as the service does, so nothing was refused either. */
export const isUnreached = ({ status, code }: ServiceFailure): boolean => status === null || code === 'unexpected_answer'

function wordsFor(failure: ServiceFailure, { token }: RemoteAddress): string {
  if (failure.code === 'unreachable') return `${failure.message} Start it with: svc serve`
  // Of a token that was known, the service says which one would do.
  if (failure.status !== 401 || ['token_expired', 'role_forbids', 'other_scenario'].includes(failure.code ?? '')) return failure.message
  const problem = token === null ? 'the service requires a token' : 'the service does not accept this token'
  return `${problem}: export ${ENV.token}=…`
}
