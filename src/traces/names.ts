/** Attribute names. Those of `http`, `url`, `server` and `error` are stable conventions; those of `gen_ai` are in development. */
export const NAME = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  path: 'url.path',
  scheme: 'url.scheme',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',

  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  maxTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  isStream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  /** In seconds. */
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  /** By the table of prices. Not in the conventions, and what tools for them read. */
  cost: 'gen_ai.usage.cost',
  score: 'gen_ai.evaluation.score.value',
  instructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',

  scenario: 'svc.scenario',
  component: 'svc.component',
  requestId: 'svc.request_id',
  receipt: 'svc.receipt',
  /** The receipts that a report is about. */
  reported: 'svc.reported_receipts',
  upstream: 'svc.upstream',
  step: 'svc.step',
  outcome: 'svc.outcome',
  /** The record of the step's instruction. */
  trainRecord: 'svc.train_record_id',
  /** The prefix of a step's metrics. */
  metric: 'svc.metrics.',
} as const
