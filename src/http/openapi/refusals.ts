/** Which codes come with which status, in the groups in which routes share them. */

export type Refusals = Readonly<Record<number, readonly string[]>>

export function refusals(...groups: readonly Refusals[]): Refusals {
  const merged: Record<string, readonly string[]> = {}
  for (const group of groups)
    for (const [status, codes] of Object.entries(group)) merged[status] = [...new Set([...(merged[status] ?? []), ...codes])]
  return merged
}

/** Of any request, before its route is known. */
export const UNREADABLE: Refusals = {
  400: ['malformed_request', 'bad_address'],
  408: ['request_timeout'],
  431: ['headers_too_large'],
  500: ['internal_error'],
}
export const UNAUTHORIZED: Refusals = { 401: ['unauthorized', 'token_expired'], 429: ['wrong_tokens'] }
export const ROLE_FORBIDS: Refusals = { 401: ['role_forbids'] }
export const OTHER_SCENARIO: Refusals = { 401: ['other_scenario'] }

const CUT_BODY: Refusals = {
  400: ['malformed_json', 'nested_too_deep', 'encoded_body', 'body_cut_off'],
  413: ['body_too_large'],
  503: ['bodies_in_flight', 'body_check_failed'],
}
export const LOOSE_BODY = refusals(CUT_BODY, { 400: ['repeated_key'] })
export const STRICT_BODY = refusals(CUT_BODY, { 400: ['repeated_key', 'lone_surrogate', 'number_out_of_range'] })
export const CHECKED_BODY = refusals(STRICT_BODY, { 400: ['invalid_field'] })

export const MODEL_SETTINGS: Refusals = { 400: ['unknown_upstream', 'upstream_unclear', 'inside_address'], 501: ['no_secret_key'] }

export const NAMED: Refusals = { 400: ['scenario_missing', 'bad_scenario_name', 'repeated_header'] }
export const TAGGED: Refusals = { 400: ['too_many_tags', 'tag_too_long'] }
export const CHOSEN: Refusals = { 400: ['invalid_field'], 409: ['record_conflict'] }
export const QUERIED: Refusals = { 400: ['invalid_query'] }

/** Of a token or a scenario that took what it may. */
export const LIMITED: Refusals = { 429: ['requests_limit', 'tokens_limit', 'cost_limit', 'concurrency_limit'] }
/** Of an upstream that is asked no more than it may be. */
export const QUEUED: Refusals = { 429: ['upstream_queue'] }

/** Of a database on another machine. */
const REMOTE_STORE: Refusals = { 503: ['store_unreachable', 'store_unauthorized', 'store_forbidden', 'store_tls'] }
export const READING = refusals(REMOTE_STORE, { 503: ['storage_failed', 'store_busy', 'store_closed', 'store_damaged'] })
export const WRITING = refusals(READING, { 503: ['disk_full', 'store_overloaded', 'store_read_only'] })

/** Of a change that the audit has an entry of. */
export const AUDITED = refusals(WRITING, { 503: ['audit_failed'] })

/** Of releases on another machine. */
const RELEASES: Refusals = {
  503: [
    'bucket_unreachable',
    'bucket_unauthorized',
    'bucket_forbidden',
    'bucket_missing',
    'bucket_clock',
    'bucket_region',
    'bucket_tls',
    'bucket_full',
    'bucket_failed',
    'remote_unreachable',
    'remote_refused',
  ],
}

/** Of a scenario that must exist, and is loaded for the request. */
export const KNOWN = refusals(READING, RELEASES, {
  404: ['unknown_scenario'],
  503: [
    'too_many_loaded',
    'recipe_missing',
    'recipe_failed',
    'recipe_broken',
    'artifact_store_failed',
    'settings_failed',
    'document_sealed',
    'content_damaged',
  ],
})
/** Of a scenario that the request creates where there is none. */
export const CREATED = refusals(KNOWN, AUDITED, {
  400: ['release_not_admitted'],
  404: ['unknown_release'],
  409: ['other_release', 'other_base', 'too_many_scenarios', 'too_many_weight_scenarios'],
})

export const RECORDED: Refusals = {
  400: ['unknown_reference', 'not_an_inference', 'repeated_reference', 'report_schema', 'eligibility_removed'],
  409: ['record_conflict'],
  501: ['recording_off'],
  503: ['redaction_failed'],
}

/** Relayed with the provider's own code where it has one. */
const OF_PROVIDER = ['upstream_refused']
const RESTING = 'upstreams_resting'
export const UPSTREAM: Refusals = {
  ...Object.fromEntries([403, 409, 422, 429].map((status) => [status, OF_PROVIDER])),
  ...Object.fromEntries([401, 408, 529].map((status) => [status, [RESTING, ...OF_PROVIDER]])),
  400: ['cannot_translate', RESTING, ...OF_PROVIDER],
  404: ['model_not_found', ...OF_PROVIDER],
  503: ['no_upstream', RESTING, ...OF_PROVIDER],
  501: ['format_not_spoken'],
  502: [
    'upstream_unreachable',
    'upstream_timeout',
    'upstream_not_json',
    'upstream_encoded',
    'upstream_untranslatable',
    'answer_too_large',
    'inside_address',
    ...OF_PROVIDER,
  ],
}
