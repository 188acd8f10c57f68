/**
 * Wrong tries of one subject: `account:<name key>`, `address:<network>`, the same with `known-` before it, or
 * `registration:<network>`. `place:<name key> <network>` says when the account signed in from there last, and counts nothing.
 */
export interface ThrottlesTable {
  key: string
  failures: number
  last_failure_at: string
  blocked_until: string | null
}
