/** Every rule of the interface and of its decisions as data; tests name the rule they hold in brackets in their title. */
import { configuration } from './rules/configuration.ts'
import { harness } from './rules/harness.ts'
import { records } from './rules/records.ts'
import { requests } from './rules/requests.ts'
import type { Rule } from './rules/rule.ts'
import { scenarios } from './rules/scenarios.ts'
import { serving } from './rules/serving.ts'
import { access, trust } from './rules/trust.ts'

export type { Rule }

export const rules: readonly Rule[] = [...serving, ...records, ...scenarios, ...harness, ...trust, ...access, ...requests, ...configuration]
