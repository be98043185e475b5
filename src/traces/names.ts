/** Attribute names, each once. Those of `http`, `url`, `server` and `error` are settled; those of `gen_ai` are in development and may still be renamed by their authors. */
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
  instructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',

  scenario: 'svc.scenario',
  component: 'svc.component',
  requestId: 'svc.request_id',
  receipt: 'svc.receipt',
  step: 'svc.step',
  outcome: 'svc.outcome',
  /** The record of the instruction that a step is about. */
  trainRecord: 'svc.train_record_id',
  /** What comes before the name of a number that a step's row tells. */
  metric: 'svc.metrics.',
} as const
