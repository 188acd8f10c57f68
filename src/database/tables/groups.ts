import type { Access } from '../../kernel/actions.ts'

export interface AccessGroupsTable {
  id: string
  name: string
  name_key: string
  created_at: string
}

export interface GroupMembersTable {
  group_id: string
  account_id: string
}

export interface GroupGrantsTable {
  group_id: string
  repository: string
  access: Access
}
