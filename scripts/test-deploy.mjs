/** `npm run test:deploy`: the chart under Helm, which is made with Go where it is not there yet. */
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pinnedNode, prepare, ROOT, runForCode, runScript, say } from './lib.mjs'

const HELM = 'helm.sh/helm/v3/cmd/helm@v3.19.0'
const FOLDER = join(ROOT, 'node_modules', '.cache', 'svc-helm')

runScript(async () => {
  await prepare()
  if (!existsSync(join(FOLDER, 'helm'))) {
    say('making helm with Go, which takes minutes the first time …')
    mkdirSync(FOLDER, { recursive: true })
    process.env.GOBIN = FOLDER
    const code = await runForCode('go', ['install', HELM])
    if (code !== 0) throw new Error('helm could not be made; it needs Go and the Go module proxy')
  }
  process.env.PATH = `${FOLDER}${delimiter}${process.env.PATH}`
  process.exitCode = await runForCode(pinnedNode(), [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/deploy/chart/vitest.config.ts',
  ])
})
