/** Names and configuration. */
import { section } from './rule.ts'

export const configuration = [
  ...section('Names', {
    'decisions.names': 'Product names and on-disk names are constants of one file.',
    'decisions.state-directory': 'Service state lives under .svc by default.',
  }),
  ...section('Configuration', {
    'config.file': 'svc serve -c reads one YAML file.',
    'config.flags': 'Every key can be given as --section.key value.',
    'config.precedence': 'The command line wins over the file, the file over the environment, that over the default.',
    'config.spelling': 'Hyphen and underscore spellings are equal.',
    'config.interpolation': '${VAR} and ${VAR:-default} are filled from the environment.',
    'config.refusal': 'An unknown key, a wrong type or a repeated key refuses to start, naming key, line and the nearest known one.',
    'config.print': '--print-config shows every value with its origin, secrets masked.',
    'config.shown': 'GET /svc/configuration shows the same of a running service, to tokens that manage it.',
    'config.schema': 'svc config schema prints the JSON schema.',
    'config.defaults': 'Each key has the default the table gives.',
    'config.upstream': 'Without any upstream configured or found the practice runtime answers.',
    'config.recipes': 'Several recipes stand under recipes; a single one may stand at the top of the file.',
    'config.postgres': 'storage.record_backend takes postgres with its database url.',
    'config.s3': 'storage.artifact_repository takes a bucket, which several services share.',
    'config.evolution': 'The evolution section has its keys and defaults.',
  }),
]
