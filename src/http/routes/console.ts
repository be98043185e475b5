/** The console's routes. They are a page and its files, no interface for programs, so the OpenAPI document leaves them out. */
import type { Handler, HttpRoute } from '../context.ts'
import * as console from '../console.ts'

const file = (path: string, plain: Handler): HttpRoute => ({
  method: 'GET',
  path,
  run: { plain },
  access: 'open',
  bodyBytesMax: 0,
  spec: null,
})

export const consoleRoutes: readonly HttpRoute[] = [
  file('/console', console.page),
  file('/console/', console.page),
  file('/console/:file', console.file),
]
