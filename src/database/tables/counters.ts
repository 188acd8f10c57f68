/** Server-wide totals, each updated in the transaction that changes what it counts. */
export interface CountersTable {
  name: CounterName
  value: number
}

export type CounterName =
  | 'reserved_bytes'
  | 'accounts'
  | 'groups'
  | 'memberships'
  | 'grants'
  | 'security_audit'
  | 'service_accounts'
  | 'open_jobs'
