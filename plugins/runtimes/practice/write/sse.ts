/** One server-sent event as text. */
import type { JsonObject } from '../../../../src/contract/index.ts'

export const dataFrame = (data: JsonObject): string => `data: ${JSON.stringify(data)}\n\n`

export const eventFrame = (event: string, data: JsonObject): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
