/** The schema of each kind's config. */
import { z } from 'zod'
import { NATIVE_FOLLOWERS_MAX, NATIVE_STEPS_MAX, NATIVE_TOOL_CALLS_MAX, type EntryKind, type Json } from '../contract/index.ts'
import { distinct, name, strict, text, wholeNumber } from './fields.ts'
import { graph } from './graph.ts'

/** Built into the native agent. */
export const RESERVED_TOOLS = ['harness_inspect', 'harness_propose', 'harness_try']
const TOOL_RULE = `must not be one of ${RESERVED_TOOLS.join(', ')}: they are built into the native agent`
const CAPABILITIES = ['read', 'write', 'exec', 'network'] as const
const EVENTS = ['pre_step', 'pre_execute', 'request_error', 'post_execute'] as const
const ITSELF_RULE = 'must not name the agent itself'

const object = z.record(
  z.string(),
  z.custom<Json>(() => true),
  { error: 'must be an object' },
)

const agent = strict({
  name,
  prompt: text,
  graph: name.optional(),
  tools: distinct(name).optional(),
  skills: distinct(name).optional(),
  max_steps: wholeNumber(NATIVE_STEPS_MAX).optional(),
  max_tool_calls: wholeNumber(NATIVE_TOOL_CALLS_MAX).optional(),
  // oxlint-disable-next-line unicorn/no-thenable -- the interface's name; this object holds schemas and is never awaited
  then: distinct(name, NATIVE_FOLLOWERS_MAX).optional(),
}).refine((config) => config.then?.includes(config.name) !== true, { error: ITSELF_RULE, path: ['then'] })

export const SCHEMAS: Readonly<Record<EntryKind, z.ZodType>> = {
  config: strict({ target: name.optional(), data: object }),
  rules: strict({ text }),
  agent_command: strict({ name, text }),
  skill: strict({ name, text }),
  code_extension: strict({ name, code: text }),
  native_tool: strict({
    name: name.refine((chosen) => !RESERVED_TOOLS.includes(chosen), { error: TOOL_RULE }),
    description: text,
    parameters: object.optional(),
    capabilities: distinct(z.enum(CAPABILITIES, { error: `must be one of ${CAPABILITIES.join(', ')}` })).optional(),
    code: text,
  }),
  native_hook: strict({ name, event: z.enum(EVENTS, { error: `must be one of ${EVENTS.join(', ')}` }), code: text }),
  native_agent: agent,
  native_graph: graph,
  native_loop: strict({ name, code: text, max_steps: wholeNumber(NATIVE_STEPS_MAX).optional() }),
}
