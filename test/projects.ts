/** Which test file is of which kind. `npm test` runs the pure ones and those with services; the others have commands of their own. */
import { matchesGlob, relative } from 'node:path'
import { BaseSequencer } from 'vitest/node'
import { isPeftThere } from './numbers/peft.ts'
import { LONG_FORM_FILES } from './long-form.ts'
import { isVersitygwThere } from './support/s3.ts'
import { IS_SHORT } from './support/short.ts'

const NOT_HERE = [
  '**/node_modules/**',
  '**/dist/**',
  'test/agents/**',
  'test/browser/**',
  'test/deploy/chart/**',
  'test/frameworks/**',
  'test/package/**',
]

const BESIDE_CODE = '{src,plugins,client,agent,native,learn,console,scripts,site}/**/*.test.ts'

/** By simulation: `npm run learn` runs them first. */
const STATISTICS = [
  'learn/*.test.ts',
  'plugins/proposers/reflect/world.test.ts',
  'plugins/runtimes/practice/climb.test.ts',
  'plugins/selections/evidence/rates.test.ts',
]

/** Those that need programs of the machine (python, strace, bubblewrap, shells, a disk of their own), install agents, kill what they started, or count the code that runs. */
const MACHINE = [
  '{client,agent}/src/**/*crash.test.ts',
  'agent/src/launcher.test.ts',
  'plugins/evaluators/verify/*.test.ts',
  'plugins/executors/sandbox/index.test.ts',
  'plugins/contents/s3/{bounded,index,lent-keys,trouble}.test.ts',
  'plugins/stores/postgres/*.test.ts',
  'plugins/stores/sqlite/durability.test.ts',
  'scripts/*.test.ts',
  'scripts/tiny-model/llama.test.ts',
  'src/cli/completion/*.test.ts',
  'src/cli/copy/postgres.test.ts',
  'src/cli/export/s3.test.ts',
  'src/cli/{runtime,terminal,trainer}.test.ts',
  'src/cli/improve/killed.test.ts',
  'src/cli/welcome/killed.test.ts',
  'src/evolution/money/killed.test.ts',
  'src/training/processors/held.test.ts',
  'test/cluster/*.test.ts',
  'test/crash/**/{processes,removal}.test.ts',
  'test/deploy/{files,monitoring}.test.ts',
  'test/docs/{extend,guides,readme,suites,terminal,weights}.test.ts',
  'test/evolution/*.test.ts',
  'test/listeners/processes.test.ts',
  'test/install/*.test.ts',
  'test/ops/{collector,disk-full,failpoints,launchers,shutdown,startup-failures,traces-beside,training-failpoints,verify}.test.ts',
  'test/reef/command.test.ts',
  'test/weights/**/*.test.ts',
]

/** Run like those with services, and take long: scenarios that train in threads, agents and remote repositories in processes. */
const LONG = [
  '{agent/src/former-names,agent/src/run,agent/src/trust-command,native/src/serve}.test.ts',
  'plugins/contents/git/{refs/remote,shared}.test.ts',
  'plugins/executors/local/*.test.ts',
  'plugins/stores/sqlite/search/search.test.ts',
  'plugins/stores/sqlite/{model,sealed,bodies/compression,forgetting/forget}.test.ts',
  'src/cli/copy/command.test.ts',
  'src/cli/remote/{mined-sessions,move}.test.ts',
  'src/harness/code.test.ts',
  'src/training/hosts/{process-outside,thread-pool,trainer-failures}.test.ts',
  'src/weights/jobs/run-job.test.ts',
  'test/listeners/deaths.test.ts',
  'test/patterns/linear.test.ts',
  'test/ops/{large-bodies,stalled-log}.test.ts',
  'test/reef/import.test.ts',
  'test/sdk/translated.test.ts',
  'test/spec/{components,evolution,forget,harness,movement,pages,poisoned,progress,remote-releases,training*}.test.ts',
  'test/training/*.test.ts',
]

const LONG_FORM = IS_SHORT ? LONG_FORM_FILES : []

/** Their server is made with Go from its source. The short form goes on without them where that could not be done, and says so. */
const WITH_S3 = ['plugins/contents/s3/{bounded,index,lent-keys,trouble}.test.ts', 'src/cli/export/s3.test.ts', 'test/cluster/*.test.ts']
const LEFT_OUT = IS_SHORT && !isVersitygwThere() ? WITH_S3 : []
if (LEFT_OUT.length > 0) process.stderr.write('tests with an S3 server are left out: install Go 1.25 or newer and run npm run test:needs\n')

/** The trainer's numbers beside PEFT's: `npm test` takes them too, once `npm run test:machine` or `npm run test:needs` installed what they need. */
const WITH_PEFT = ['test/numbers/*.test.ts']

/** Beside the code, and yet with a whole service, a process of its own, or another working directory. */
const SERVICE = [
  'client/src/{api,alive}.test.ts',
  'client/src/commands/*.test.ts',
  'native/src/*.test.ts',
  'agent/src/{commands,former-names,ignore-file,install,process-lock,report,run,run-folder,setup,trust,update}.test.ts',
  'console/src/data/commands.test.ts',
  'plugins/adapters/claude/index.test.ts',
  'plugins/adapters/native/seed.test.ts',
  'plugins/contents/{common,git}/**/*.test.ts',
  'plugins/miners/git/*.test.ts',
  'src/git/*.test.ts',
  'src/mining/*.test.ts',
  'plugins/executors/common/*.test.ts',
  'src/cli/{docs,doctor,improve,init,key,program,serve,tasks,verify}.test.ts',
  'src/cli/copy/*.test.ts',
  'src/cli/export/*.test.ts',
  'src/cli/remote/*.test.ts',
  'src/config/load-file.test.ts',
  'src/improve/{change,meter,run,state}.test.ts',
  'scripts/tiny-model/from-gguf.test.ts',
  'src/weights/formats/tar.test.ts',
  'test/**/*.test.ts',
]

/** Each of these takes half a minute or more. */
const SLOWEST = [
  'test/agents/{defaults,evolution,improve,loaded,opencode}.test.ts',
  'test/browser/{console,manage,review,versions}.test.ts',
  'test/cluster/{limits,services}.test.ts',
  'test/docs/{guides,terminal,weights}.test.ts',
  'test/evolution/loop.test.ts',
  'test/install/{attacks,gate,install,machine-token,trouble}.test.ts',
  'test/ops/{startup-failures,training-failpoints}.test.ts',
  'test/spec/{fuzz,movement,openapi}.test.ts',
  'plugins/stores/postgres/{store,trouble}.test.ts',
  'plugins/stores/sqlite/{durability,sealed,store,messages/sharing}.test.ts',
  'src/cli/copy/postgres.test.ts',
  'src/cli/welcome/killed.test.ts',
  'agent/src/install.crash.test.ts',
  'test/reef/command.test.ts',
]

/** On a fresh clone files are ordered by size. The slowest go first: at the end each of them would run alone. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]): ReturnType<BaseSequencer['sort']> {
    const { root } = this.ctx.config
    const { slow = [], rest = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      SLOWEST.some((pattern) => matchesGlob(relative(root, moduleId), pattern)) ? 'slow' : 'rest',
    )
    return [...slow, ...rest]
  }
}

export const projectFiles = () => ({
  pure: { include: [BESIDE_CODE], exclude: [...NOT_HERE, ...STATISTICS, ...MACHINE, ...LONG, ...SERVICE] },
  service: { include: SERVICE, exclude: [...NOT_HERE, ...STATISTICS, ...MACHINE, ...LONG, ...(isPeftThere() ? [] : WITH_PEFT)] },
  long: { include: LONG, exclude: [...NOT_HERE, ...LONG_FORM] },
  machine: { include: [...MACHINE, ...WITH_PEFT], exclude: [...NOT_HERE, ...LONG_FORM, ...LEFT_OUT] },
  statistics: { include: STATISTICS, exclude: [...NOT_HERE, ...LONG_FORM] },
})
