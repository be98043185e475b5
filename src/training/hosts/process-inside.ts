/** The process of the trainers, inner side: runs their threads, and ends with the service. */
import { knowSecrets, wordsOf } from '../../kit/index.ts'
import { StepFailure, type DocumentsOf } from './host.ts'
import type { FromTrainers, ToTrainers } from './process-wire.ts'
import { standBack } from './standing-back.ts'
import { ThreadDocuments } from './thread-documents.ts'
import { ThreadPool } from './thread-pool.ts'
import { reporterTo } from './wire.ts'

/** `entry` is the file of a trainer's thread. */
export function serveTrainers(entry: URL): void {
  if (process.send === undefined) throw new Error('this file runs as the process of the trainers')
  standBack()
  // A signal to the whole group is for the service: it ends the steps, and then this process.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  // The service is gone. Its next one may be here already, so nothing of this one may be written any more.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  const documents = new ThreadDocuments((call) => tell(call))
  // Each call says the place: the rest of the trainer stays here.
  const documentsOf: DocumentsOf = ({ directory, lease }) => documents.of({ directory, ...(lease !== undefined && { lease }) })
  const steps = new Map<number, AbortController>()
  let pool: ThreadPool | null = null
  process.on('message', (message: ToTrainers) => {
    if (message.ask === 'open') pool = open(message)
    else if (message.ask === 'step') void take(message)
    else if (message.ask === 'abort') steps.get(message.step)?.abort(new Error('the step was aborted'))
    else if (message.ask === 'documents') documents.hear(message)
    else void pool?.close().then(() => process.exit())
  })

  function open({ threads, hasDocuments }: Extract<ToTrainers, { ask: 'open' }>): ThreadPool {
    return new ThreadPool({ threads, entry, documents: hasDocuments ? documentsOf : undefined })
  }

  async function take({ step, trainer, order, secrets }: Extract<ToTrainers, { ask: 'step' }>): Promise<void> {
    knowSecrets(secrets)
    const stopping = new AbortController()
    steps.set(step, stopping)
    tell({ said: 'begun', step })
    try {
      if (pool === null) throw new Error('the process of the trainers was asked for a step before it was opened')
      const started = pool.start(
        trainer,
        order,
        reporterTo((report) => tell({ said: 'report', step, report })),
        stopping.signal,
      )
      const answer = started.answer.then(
        (result) => tell({ said: 'done', step, result }),
        (error: unknown) => tell({ said: 'failed', step, words: wordsOf(error), isTrainers: error instanceof StepFailure }),
      )
      await Promise.all([answer, started.ended])
    } catch (error) {
      tell({ said: 'failed', step, words: wordsOf(error), isTrainers: false })
    } finally {
      steps.delete(step)
      tell({ said: 'ended', step })
    }
  }
}

/** Without a service to tell, this process ends. */
function tell(message: FromTrainers): void {
  process.send?.(message, undefined, undefined, () => undefined)
}
