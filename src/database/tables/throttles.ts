/**
 * Wrong tries of one subject: `account:<name key>`, `address:<network>`, from where an account is known
 * `known-account:<name key> <network>` and `known-address:<network>`, of a session `session:<id>`, or
 * `registration:<network>`. `known-account:<name key>` adds up those of an account and bears no pause.
 * `place:<name key> <network>` says when the account signed in from there last, and counts nothing.
 */
export interface ThrottlesTable {
  key: string
  failures: number
  last_failure_at: string
  blocked_until: string | null
}
