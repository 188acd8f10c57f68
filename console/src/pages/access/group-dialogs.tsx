import { MultiSelect, SegmentedControl, Select } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { said, t } from '../../words/words.ts'

/** A group as the list of groups tells it. */
export type Group = Answer<'listAccessGroups'>['items'][number]

interface OfGroup {
  readonly group: Group
  readonly close: () => void
}

/** Who is in a group; says in words what each change gives or takes before it is saved. */
export const Members = ({ group, close }: OfGroup) => {
  const users = useAsk('listUsers', {})
  const [chosen, setChosen] = useState<string[]>(group.members)
  const add = useChange('addAccessGroupMember', ['listAccessGroups', 'listWhoMay'])
  const remove = useChange('removeAccessGroupMember', ['listAccessGroups', 'listWhoMay'])
  const nameOf = (id: string): string => users.data?.items.find((each) => each.id === id)?.name ?? id
  const joining = chosen.filter((id) => !group.members.includes(id))
  const leaving = group.members.filter((id) => !chosen.includes(id))
  const submit = async (): Promise<void> => {
    for (const userId of joining) await add.mutateAsync({ path: { id: group.id, userId } })
    for (const userId of leaving) await remove.mutateAsync({ path: { id: group.id, userId } })
    close()
  }
  const grants = group.grants
    .map(({ repository, access }) => `${repository} (${said('scope', access === 'write' ? 'read-write' : 'read')})`)
    .join(', ')
  return (
    <FormDialog
      title={`${group.name}: ${t('access.members')}`}
      open
      close={close}
      submit={() => void submit().catch(() => {})}
      label={t('dialog.save')}
      busy={add.isPending || remove.isPending}
      error={add.error ?? remove.error}
      ready={joining.length + leaving.length > 0}
    >
      <MultiSelect
        label={t('access.members')}
        searchable
        data={(users.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={chosen}
        onChange={setChosen}
        data-autofocus
      />
      <div className="panel" aria-live="polite">
        {joining.length + leaving.length === 0 ? <p className="muted">{t('access.nothingChanges')}</p> : null}
        {joining.length === 0 ? null : (
          <p>{t('access.joining', { names: joining.map(nameOf).join(', '), grants: grants === '' ? '–' : grants })}</p>
        )}
        {leaving.length === 0 ? null : <p>{t('access.leaving', { names: leaving.map(nameOf).join(', ') })}</p>}
      </div>
    </FormDialog>
  )
}

/** A repository for a group, to read or to write. */
export const Grant = ({ group, close }: OfGroup) => {
  const all = usePages('listAllRepositories', () => ({ query: { limit: 100 } }))
  const [repository, setRepository] = useState<string | null>(null)
  const [access, setAccess] = useState<'read' | 'write'>('read')
  const set = useChange('setAccessGroupGrant', ['listAccessGroups', 'listWhoMay'])
  const members = group.accounts.map(({ name }) => name).join(', ')
  return (
    <FormDialog
      title={`${group.name}: ${t('access.grant')}`}
      open
      close={close}
      submit={() =>
        set.mutate({ path: { id: group.id, repository: repository ?? '' }, body: { access } }, { onSuccess: close })
      }
      label={t('access.grant')}
      busy={set.isPending}
      error={set.error}
      ready={repository !== null}
    >
      <Select
        label={t('list.repository')}
        searchable
        data={all.data?.pages.flatMap(({ items }) => items.map(({ id }) => id)) ?? []}
        value={repository}
        onChange={setRepository}
        data-autofocus
      />
      <SegmentedControl
        aria-label={t('me.scope')}
        value={access}
        onChange={(next) => setAccess(next === 'write' ? 'write' : 'read')}
        data={[
          { value: 'read', label: said('scope', 'read') },
          { value: 'write', label: said('scope', 'read-write') },
        ]}
      />
      <p className="panel" aria-live="polite">
        {repository === null
          ? t('access.choose')
          : access === 'write'
            ? t('access.willWrite', { names: members === '' ? t('access.nobody') : members, repository })
            : t('access.willRead', { names: members === '' ? t('access.nobody') : members, repository })}
      </p>
    </FormDialog>
  )
}

/** Ends a group once its name is typed; says who loses what. */
export const DeleteGroup = ({ group, close }: OfGroup) => {
  const remove = useChange('deleteAccessGroup', ['listAccessGroups', 'listWhoMay'])
  return (
    <FormDialog
      title={t('artifact.delete')}
      open
      close={close}
      submit={() => remove.mutate({ path: { id: group.id } }, { onSuccess: close })}
      label={t('artifact.delete')}
      busy={remove.isPending}
      error={remove.error}
      named={group.name}
      danger
    >
      <p>
        {t('access.deleting', {
          names: group.accounts.map(({ name }) => name).join(', ') || t('access.nobody'),
          grants: group.grants.map(({ repository }) => repository).join(', ') || '–',
        })}
      </p>
    </FormDialog>
  )
}
