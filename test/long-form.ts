/** `MACHINE_TESTS=short` leaves these out: what they try is tried in a smaller form elsewhere, in crash tests or in the other files of their folder. */
export const LONG_FORM_FILES = [
  'agent/src/install.crash.test.ts',
  'learn/silent.test.ts',
  'plugins/stores/postgres/sealed.test.ts',
  'src/cli/improve/killed.test.ts',
  'src/cli/welcome/killed.test.ts',
  'src/training/hosts/trainer-failures.test.ts',
  'test/cluster/{owners,weights,workers}.test.ts',
  'test/docs/weights.test.ts',
  'test/evolution/{loop,runners}.test.ts',
  'test/install/{several,trouble}.test.ts',
  'test/ops/{collector,launchers,traces-beside,training-failpoints}.test.ts',
  'test/reef/command.test.ts',
  'test/spec/poisoned.test.ts',
  'test/weights/real/loop.test.ts',
  'test/weights/{bad-engine,bad-input,imports,sharing,trainer-refusals,trainer-saved,tttd,updates}.test.ts',
]
