/** Keys, tokens and passwords, by the kept list of their shapes. */
import { replaceSecrets } from '../../../src/kit/index.ts'
import type { Without } from './stand.ts'

export const withoutKeys: Without = (text, stand) => replaceSecrets(text, (secret) => stand.for('key', secret))
