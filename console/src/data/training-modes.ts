/** The modes of training, and what each means. */
export const MODES = [
  ['auto', 'A batch of traffic starts a step. Requests are refused.'],
  ['manual', 'A request starts a step. Traffic waits.'],
  ['hybrid', 'A request starts a step, else a batch of traffic does.'],
] as const
