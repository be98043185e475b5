/** The trace of one training step: a span for the step, and a child span per phase. All are written when the step is over. */
import { isObject, type Commit, type JsonObject } from '../contract/index.ts'
import { Attributes, shortened } from './attributes.ts'
import type { TraceContext } from './context.ts'
import { NAME } from './names.ts'
import { newSpanId, type SpanSink, type TraceSpan } from './span.ts'

interface Subject {
  readonly scenario: string
  readonly component: string
  /** The record of its instruction; null for a step on traffic. */
  readonly requestId: string | null
}

/** Bounds the trace of a method that alternates between phases for ever. */
const PHASES_MAX = 64
/** Bounds the metrics in a span. */
const METRICS_MAX = 32
const METRIC_NAME_CHARACTERS_MAX = 100
/** Metrics that the conventions have a name for. */
const NAMED: Readonly<Record<string, string>> = {
  proposer_input_tokens: NAME.inputTokens,
  proposer_output_tokens: NAME.outputTokens,
}
/** The service's own phase: the row is landing. */
const SETTLING = 'settling'

export class StepSpans {
  readonly #sink: SpanSink
  readonly #context: TraceContext
  readonly #subject: Subject
  readonly #id = newSpanId()
  readonly #begun = performance.now()
  readonly #phases: { readonly name: string; readonly begun: number }[] = []

  constructor(sink: SpanSink, context: TraceContext, subject: Subject) {
    this.#sink = sink
    this.#context = context
    this.#subject = subject
  }

  /** Ends the phase before it. */
  phase(name: string): void {
    if (this.#phases.at(-1)?.name !== name && this.#phases.length < PHASES_MAX) this.#phases.push({ name, begun: performance.now() })
  }

  /** Without a row, another component published first, or the service failed and `failure` says why. */
  end(commit: Commit | null, failure: string | null): void {
    if (!this.#context.isSampled) return
    const ended = performance.now()
    this.#sink.write(1 + this.#phases.length, () => {
      const attributes = stepAttributes(this.#subject, commit, failure)
      const step = this.#span({ id: this.#id, parentId: null, name: 'svc.step', begun: this.#begun, ended, attributes, failure })
      return [step, ...this.#phaseSpans(ended, commit, failure)]
    })
  }

  #phaseSpans(ended: number, commit: Commit | null, failure: string | null): readonly TraceSpan[] {
    // A failed step with a row failed before the row landed.
    const failed = commit === null ? this.#phases.at(-1) : this.#phases.findLast(({ name }) => name !== SETTLING)
    return this.#phases.map((phase, index) =>
      this.#span({
        id: newSpanId(),
        parentId: this.#id,
        name: `svc.step ${phase.name}`,
        begun: phase.begun,
        ended: this.#phases[index + 1]?.begun ?? ended,
        attributes: new Attributes().text(NAME.scenario, this.#subject.scenario).text(NAME.component, this.#subject.component),
        failure: phase === failed ? failure : null,
      }),
    )
  }

  #span(parts: Omit<TraceSpan, 'context' | 'kind'>): TraceSpan {
    return { context: this.#context, kind: 'internal', ...parts }
  }
}

function stepAttributes({ scenario, component, requestId }: Subject, commit: Commit | null, failure: string | null): Attributes {
  const metrics = commit?.metrics ?? {}
  const attributes = new Attributes()
    .text(NAME.scenario, scenario)
    .text(NAME.component, component)
    .text(NAME.trainRecord, requestId)
    .whole(NAME.step, commit?.step)
    .text(NAME.outcome, commit?.outcome ?? (failure === null ? 'overtaken' : 'interrupted'))
    .text(NAME.errorType, failure === null ? null : 'step_failed')
  if (isObject(metrics['spent'])) attributes.number(NAME.cost, metrics['spent']['cost'])
  for (const [name, attribute] of Object.entries(NAMED)) attributes.whole(attribute, metrics[name])
  for (const [name, value] of numbersIn(metrics)) attributes.number(`${NAME.metric}${shortened(name, METRIC_NAME_CHARACTERS_MAX)}`, value)
  return attributes
}

function numbersIn(metrics: JsonObject): readonly (readonly [string, unknown])[] {
  const numbers = Object.entries(metrics).filter(([name, value]) => typeof value === 'number' && !Object.hasOwn(NAMED, name))
  return numbers.slice(0, METRICS_MAX)
}
