/** Wrong tries of one subject: `account:<name key>` or `address:<client address>`. */
export interface ThrottlesTable {
  key: string
  failures: number
  last_failure_at: string
  blocked_until: string | null
}
