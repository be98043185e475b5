#!/usr/bin/env node
/** The command. On a Node that is too old it is started again on the pinned one. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keepCompiled } from './compiled.mjs'

const NODE_LEAST = '22.19'

const launcher = await import('@svc-ai/client/launch').catch(() => null)
if (launcher === null) {
  process.stderr.write('svc: not installed yet; run: npm start\n')
  process.exitCode = 2
} else {
  await launcher.onNode('svc', NODE_LEAST, async () => {
    const built = new URL('../dist/src/cli/index.js', import.meta.url)
    if (!existsSync(fileURLToPath(built))) return launcher.fail('svc', 'not built yet; run: npm run build')
    keepCompiled(dirname(dirname(fileURLToPath(import.meta.url))))
    const cli = await import(built.href)
    return cli.main()
  })
}
