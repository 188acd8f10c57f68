/** Why somebody may not do something, in a word. */
export const missingThings = [
  'repository_missing',
  'account_disabled',
  'service_keys_only',
  'no_grant',
  'no_entry',
  'grant_too_small',
  'no_active_key',
  'not_in_policy',
  'not_in_key',
  'not_administrator',
] as const
export type MissingThing = (typeof missingThings)[number]
