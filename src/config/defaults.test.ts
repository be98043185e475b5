import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EVOLUTION, WEIGHT_DEFAULTS } from './testing/defaults.ts'
import { read } from './testing/reading.ts'

const NO_LIMITS = { requests_per_minute: 0, tokens_per_minute: 0, cost_per_day: 0, concurrent_requests: 0 }

describe('defaults', () => {
  test('are those of the decisions, key by key [config.defaults] [decisions.state-directory]', () => {
    const { config } = read({})
    expect(config).toEqual({
      svc: {
        host: '127.0.0.1',
        port: 8900,
        tls: null,
        token: null,
        tokens: [],
        sign_in: null,
        allow_implicit_scenario_creation: true,
        max_scenarios: 10_000,
        max_loaded_scenarios: 256,
        compat: null,
        listeners: null,
        training_threads: 4,
        log: 'auto',
        console_origins: [],
        served_url: null,
      },
      inference: {
        runtime: null,
        upstream_url: null,
        upstream_model: null,
        upstream_api: 'openai',
        upstream_formats: null,
        upstream_api_key: null,
        upstreams: {},
        client_key_origins: [],
        allow_inside: null,
        upstream_retries: 2,
        breaker: { failures: 5, rest_s: 30 },
        timeout_s: 300,
        retry_timeout_s: 300,
        max_answer_bytes: 67_108_864,
        gateway: null,
        engine: {
          url: null,
          api_key: null,
          model: null,
          capacity: null,
          adapter_prefix: null,
          max_lora_rank: null,
          parallel: null,
          context_tokens: null,
          threads: null,
          vocabulary: null,
          gpu: null,
        },
      },
      limits: {
        token: NO_LIMITS,
        tokens: {},
        scenario: NO_LIMITS,
        scenarios: {},
        prices: {},
        upstream: { concurrent_requests: 0, requests_per_minute: 0, wait_s: 30 },
      },
      traces: { endpoint: null, headers: {}, service_name: 'svc', sample_ratio: 1, content: false },
      storage: {
        agent_record_dir: resolve('.svc/agent-record'),
        artifact_repository: resolve('.svc/artifacts.git'),
        s3: {
          endpoint: null,
          region: 'us-east-1',
          access_key_id: null,
          secret_access_key: null,
          session_token: null,
          cache_bytes: 21_474_836_480,
        },
        record_backend: 'sqlite',
        record_database_url: null,
        record_settings: {},
        record_capacity_bytes: 21_474_836_480,
        keep_raw_streams: false,
        secret_key: null,
        encrypt_bodies: false,
      },
      recording: { mode: 'full', redactor: 'personal', redactor_settings: {}, retention_days: null, scenarios: {} },
      webhooks: {},
      recipe: 'record-only',
      recipes: {
        'record-only': {
          use: 'record-only',
          data: { training_mode: 'auto', batch_policy: 'reports' },
          pipeline: { task2batch: { config: { batch_size: 1 } } },
          evolution: EVOLUTION,
          training: { step_timeout_s: 14_400, memory_mib: 1024, ...WEIGHT_DEFAULTS },
        },
      },
    })
  })

  test('every key says that it came from its default', () => {
    const { origins } = read({})
    expect(new Set(origins.values())).toEqual(new Set(['default']))
    expect([...origins.keys()]).toContain('pipeline.task2batch.config.batch_size')
  })

  test('the whole configuration is frozen', () => {
    const { config } = read({ text: 'svc: {tokens: [a]}' })
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.svc.tokens)).toBe(true)
    expect(Object.isFrozen(config.recipes['record-only']?.data)).toBe(true)
  })
})
