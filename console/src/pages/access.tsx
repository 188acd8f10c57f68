import { Button, MultiSelect, PasswordInput, SegmentedControl, Select, Switch, TextInput } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import type { RepositoryAction } from '../contract/generated.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { FormDialog, TypedName } from '../parts/dialog.tsx'
import { Listed } from '../parts/listed.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Moment, Tag } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { said, t } from '../words/words.ts'
import { Actions, chosenActions } from './actions.tsx'

const tabs = ['groups', 'people', 'matrix', 'services'] as const

/** Who may what: groups and what they are granted, people, services, and the sum of it all. */
export const Access = () => {
  const { tab = 'groups' } = useSearch({ from: '/access' })
  return (
    <Page title={t('nav.access')} lead={t('access.lead')}>
      <nav className="tabs" aria-label={t('nav.access')}>
        {tabs.map((each) => (
          <Link key={each} to="/access" search={{ tab: each }} className={tab === each ? 'active' : ''}>
            {said('access.tab', each)}
          </Link>
        ))}
      </nav>
      {tab === 'people' ? <People /> : tab === 'matrix' ? <Matrix /> : tab === 'services' ? <Services /> : <Groups />}
    </Page>
  )
}

type Group = Answer<'listAccessGroups'>['items'][number]

const Groups = () => {
  const allowed = useMay()('listAccessGroups')
  const groups = useAsk('listAccessGroups', {}, { enabled: allowed.may })
  const [creating, setCreating] = useState(false)
  const [name, setName] = useState('')
  const create = useChange('createAccessGroup', ['listAccessGroups'])
  if (!allowed.may) return <Forbidden missing={allowed} />
  return (
    <Section
      title={said('access.tab', 'groups')}
      actions={<Act by="createAccessGroup" icon="plus" label={t('access.newGroup')} run={() => setCreating(true)} />}
    >
      <Shown of={groups}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="people" title={t('access.noGroups')} />
          ) : (
            <ul className="cards">
              {items.map((group) => (
                <GroupCard key={group.id} group={group} />
              ))}
            </ul>
          )
        }
      </Shown>
      <FormDialog
        title={t('access.newGroup')}
        open={creating}
        close={() => setCreating(false)}
        submit={() => create.mutate({ body: { name } }, { onSuccess: () => setCreating(false) })}
        label={t('me.create')}
        busy={create.isPending}
        error={create.error}
        ready={name !== ''}
      >
        <TextInput
          label={t('list.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
      </FormDialog>
    </Section>
  )
}

const GroupCard = ({ group }: { readonly group: Group }) => {
  const [editing, setEditing] = useState<'members' | 'grant' | 'delete' | null>(null)
  const remove = useChange('removeAccessGroupGrant', ['listAccessGroups', 'listWhoMay'])
  const set = useChange('setAccessGroupGrant', ['listAccessGroups', 'listWhoMay'])
  return (
    <li className="card">
      <h2>{group.name}</h2>
      <div>
        <p className="small muted">{t('access.members')}</p>
        <p>{group.accounts.length === 0 ? t('access.nobody') : group.accounts.map(({ name }) => name).join(', ')}</p>
      </div>
      <div className="lines">
        <p className="small muted">{t('access.grants')}</p>
        {group.grants.length === 0 ? <p>{t('access.noGrants')}</p> : null}
        {group.grants.map(({ repository, access }) => (
          <div key={repository} className="spread">
            <Link to="/r/$repository" params={{ repository }} className="mono">
              {repository}
            </Link>
            <span className="line">
              <Tag
                tone={access === 'write' ? 'accent' : 'plain'}
                text={said('scope', access === 'write' ? 'read-write' : 'read')}
              />
              <button
                type="button"
                className="plain"
                aria-label={t('access.revoke', { repository })}
                onClick={() =>
                  remove.mutate(
                    { path: { id: group.id, repository } },
                    {
                      onError: tellProblem,
                      onSuccess: () =>
                        tell(t('access.wasRevoked', { repository }), () =>
                          set.mutate({ path: { id: group.id, repository }, body: { access } }),
                        ),
                    },
                  )
                }
              >
                <Icon name="cross" />
              </button>
            </span>
          </div>
        ))}
      </div>
      <div className="actions">
        <Act
          by="addAccessGroupMember"
          size="compact-sm"
          label={t('access.members')}
          run={() => setEditing('members')}
        />
        <Act by="setAccessGroupGrant" size="compact-sm" label={t('access.grant')} run={() => setEditing('grant')} />
        <Act by="deleteAccessGroup" size="compact-sm" label={t('artifact.delete')} run={() => setEditing('delete')} />
      </div>
      {editing === 'members' ? <Members group={group} close={() => setEditing(null)} /> : null}
      {editing === 'grant' ? <Grant group={group} close={() => setEditing(null)} /> : null}
      {editing === 'delete' ? <DeleteGroup group={group} close={() => setEditing(null)} /> : null}
    </li>
  )
}

interface OfGroup {
  readonly group: Group
  readonly close: () => void
}

const Members = ({ group, close }: OfGroup) => {
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

const Grant = ({ group, close }: OfGroup) => {
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

const DeleteGroup = ({ group, close }: OfGroup) => {
  const [right, setRight] = useState(false)
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
      ready={right}
      danger
    >
      <p>
        {t('access.deleting', {
          names: group.accounts.map(({ name }) => name).join(', ') || t('access.nobody'),
          grants: group.grants.map(({ repository }) => repository).join(', ') || '–',
        })}
      </p>
      <TypedName name={group.name} typed={setRight} />
    </FormDialog>
  )
}

type User = Answer<'listUsers'>['items'][number]

const People = () => {
  const allowed = useMay()('listUsers')
  const users = useAsk('listUsers', {}, { enabled: allowed.may })
  const groups = useAsk('listAccessGroups', {}, { enabled: allowed.may })
  const [creating, setCreating] = useState(false)
  const [changing, setChanging] = useState<User | null>(null)
  if (!allowed.may) return <Forbidden missing={allowed} />
  const groupsOf = (id: string): string =>
    (groups.data?.items ?? [])
      .filter(({ members }) => members.includes(id))
      .map(({ name }) => name)
      .join(', ')
  return (
    <Section
      title={said('access.tab', 'people')}
      actions={<Act by="createUser" icon="plus" label={t('access.newPerson')} run={() => setCreating(true)} />}
    >
      <Shown of={users}>
        {({ items }) => (
          <div className="scroll-x panel">
            <table className="plain-table">
              <thead>
                <tr>
                  <th>{t('list.name')}</th>
                  <th>{t('me.role')}</th>
                  <th>{said('access.tab', 'groups')}</th>
                  <th>{t('list.state')}</th>
                  <th>{t('list.actions')}</th>
                </tr>
              </thead>
              <tbody>
                {items.map((user) => (
                  <tr key={user.id}>
                    <td>
                      <strong>{user.name}</strong>
                    </td>
                    <td>{user.administrator ? <Tag tone="accent" text={t('me.administrator')} /> : t('me.person')}</td>
                    <td>{groupsOf(user.id) || '–'}</td>
                    <td>
                      {user.enabled ? (
                        <Tag tone="ok" text={t('access.enabled')} />
                      ) : (
                        <Tag tone="warn" text={t('access.disabled')} />
                      )}
                    </td>
                    <td>
                      <Button size="compact-xs" variant="default" onClick={() => setChanging(user)}>
                        {t('artifact.edit')}
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Shown>
      {creating ? <CreatePerson close={() => setCreating(false)} /> : null}
      {changing === null ? null : <ChangePerson user={changing} close={() => setChanging(null)} />}
    </Section>
  )
}

const CreatePerson = ({ close }: { readonly close: () => void }) => {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [administrator, setAdministrator] = useState(false)
  const [group, setGroup] = useState<string | null>(null)
  const groups = useAsk('listAccessGroups', {})
  const create = useChange('createUser', ['listUsers'])
  const join = useChange('addAccessGroupMember', ['listAccessGroups', 'listWhoMay'])
  const chosen = groups.data?.items.find(({ id }) => id === group)
  const submit = async (): Promise<void> => {
    const { id } = await create.mutateAsync({ body: { name, password, administrator } })
    if (group !== null) await join.mutateAsync({ path: { id: group, userId: id } })
    close()
    tell(t('access.made', { name }))
  }
  const grants = (chosen?.grants ?? [])
    .map(({ repository, access }) => `${repository} (${said('scope', access === 'write' ? 'read-write' : 'read')})`)
    .join(', ')
  return (
    <FormDialog
      title={t('access.newPerson')}
      open
      close={close}
      submit={() => void submit().catch(() => {})}
      label={t('me.create')}
      busy={create.isPending}
      error={create.error ?? join.error}
      ready={name !== '' && password !== ''}
    >
      <TextInput
        label={t('list.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <PasswordInput
        label={t('sign.password')}
        description={t('access.firstPassword')}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
      />
      <Select
        label={t('access.inGroup')}
        data={(groups.data?.items ?? []).map(({ id, name: label }) => ({ value: id, label }))}
        value={group}
        onChange={setGroup}
        clearable
        searchable
      />
      <Switch
        label={t('me.administrator')}
        description={t('access.administers')}
        checked={administrator}
        onChange={(event) => setAdministrator(event.currentTarget.checked)}
      />
      <p className="panel" aria-live="polite">
        {grants === ''
          ? t('access.seesNothing', { name: name || '…' })
          : t('access.willSee', { name: name || '…', grants })}
      </p>
    </FormDialog>
  )
}

const ChangePerson = ({ user, close }: { readonly user: User; readonly close: () => void }) => {
  const [enabled, setEnabled] = useState(user.enabled)
  const [password, setPassword] = useState('')
  const [right, setRight] = useState(false)
  const change = useChange('updateUser', ['listUsers'])
  const tokens = useAsk('listUserTokens', { path: { id: user.id } })
  const revoke = useChange('revokeUserToken', ['listUserTokens'])
  const needsName = user.administrator && user.enabled && !enabled
  return (
    <FormDialog
      title={user.name}
      open
      close={close}
      submit={() =>
        change.mutate(
          {
            path: { id: user.id },
            body: { ...(enabled === user.enabled ? {} : { enabled }), ...(password === '' ? {} : { password }) },
          },
          { onSuccess: close },
        )
      }
      label={t('dialog.save')}
      busy={change.isPending}
      error={change.error}
      ready={(enabled !== user.enabled || password !== '') && (!needsName || right)}
      danger={user.enabled && !enabled}
    >
      <Switch
        label={t('access.enabled')}
        description={t('access.disabling')}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
      <PasswordInput
        label={t('access.reset')}
        description={t('access.firstPassword')}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
      />
      {needsName ? <TypedName name={user.name} typed={setRight} /> : null}
      {tokens.data === undefined || tokens.data.items.length === 0 ? null : (
        <div className="lines">
          <h3>{t('me.tokens')}</h3>
          {tokens.data.items
            .filter(({ revoked }) => !revoked)
            .map(({ id, name, lastUsedAt }) => (
              <div key={id} className="spread">
                <span>
                  {name}{' '}
                  <span className="muted small">
                    {lastUsedAt === null ? t('me.never') : <Moment at={lastUsedAt} />}
                  </span>
                </span>
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => revoke.mutate({ path: { id: user.id, tokenId: id } }, { onError: tellProblem })}
                >
                  {t('me.revoke')}
                </Button>
              </div>
            ))}
        </div>
      )}
    </FormDialog>
  )
}

const asked = [
  'content.read',
  'upload.create',
  'artifact.promote',
  'artifact.delete',
  'storage.manage',
] as const satisfies readonly RepositoryAction[]

/** Who may what in a repository, and by what: people, service accounts and keys of the keys file. */
const Matrix = () => {
  const { repository: chosen } = useSearch({ from: '/access' })
  const allowed = useMay()('listWhoMay')
  const all = usePages('listAllRepositories', () => ({ query: { limit: 100 } }), { enabled: allowed.may })
  const names = all.data?.pages.flatMap(({ items }) => items.map(({ id }) => id)) ?? []
  const repository = chosen ?? names[0] ?? ''
  const who = usePages(
    'listWhoMay',
    (after) => ({ query: { repository, limit: 100, ...(after === undefined ? {} : { after: String(after) }) } }),
    { enabled: repository !== '' },
  )
  if (!allowed.may) return <Forbidden missing={allowed} />
  return (
    <Section title={said('access.tab', 'matrix')}>
      <nav className="line" aria-label={t('list.repository')}>
        {names.map((name) => (
          <Link key={name} to="/access" search={{ tab: 'matrix', repository: name }}>
            <Tag tone={name === repository ? 'accent' : 'plain'} text={name} />
          </Link>
        ))}
      </nav>
      <Listed
        of={who}
        label={said('access.tab', 'matrix')}
        keyOf={({ who: { kind, id } }) => `${kind}:${id}`}
        columns={[
          {
            key: 'who',
            label: t('list.who'),
            width: 'minmax(120px, 2fr)',
            show: ({ who: { kind, name } }) => (
              <span className="name">
                <Icon name={kind === 'account' ? 'shield' : 'key'} />
                <span>{name}</span>
              </span>
            ),
          },
          ...asked.map((action) => ({
            key: action,
            label: said('matrix', action),
            width: '84px',
            wide: action !== 'content.read' && action !== 'upload.create',
            show: ({ actions }: { readonly actions: readonly RepositoryAction[] }) =>
              actions.includes(action) ? (
                <span className="line">
                  <Icon name="check" />
                  <span className="off-screen">{t('npm.yes')}</span>
                </span>
              ) : (
                <span className="muted">–</span>
              ),
          })),
          {
            key: 'through',
            label: t('access.through'),
            width: 'minmax(120px, 2fr)',
            show: ({ through }) => through.map(({ kind, name }) => `${said('giver', kind)} ${name}`).join(', '),
          },
        ]}
        empty={<Empty icon="people" title={t('access.nobodyMay')} />}
      />
    </Section>
  )
}

const Services = () => {
  const may = useMay()
  const list = usePages('listServiceAccounts', (after) => ({
    query: after === undefined ? {} : { after: String(after) },
  }))
  const [creating, setCreating] = useState(false)
  const [name, setName] = useState('')
  const [repository, setRepository] = useState('')
  const [actions, setActions] = useState<string[]>(['content.read', 'artifact.read'])
  const create = useChange('createServiceAccount', ['listServiceAccounts'])
  const allowed = may('createServiceAccount')
  return (
    <Section
      title={said('access.tab', 'services')}
      actions={<Act by="createServiceAccount" icon="plus" label={t('services.create')} run={() => setCreating(true)} />}
    >
      {allowed.may ? null : <p className="band">{t('services.key')}</p>}
      <Listed
        of={list}
        label={said('access.tab', 'services')}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'name',
            label: t('list.name'),
            width: 'minmax(120px, 2fr)',
            show: ({ id, name: called }) => (
              <Link to="/access/services/$id" params={{ id }}>
                <Icon name="key" />
                <span>{called}</span>
              </Link>
            ),
          },
          {
            key: 'bindings',
            label: t('services.where'),
            width: 'minmax(120px, 2fr)',
            show: ({ bindings }) => bindings.map(({ resource }) => resource.id).join(', '),
          },
          {
            key: 'state',
            label: t('list.state'),
            width: '110px',
            show: ({ enabled }) => (
              <Tag tone={enabled ? 'ok' : 'warn'} text={enabled ? t('access.enabled') : t('access.disabled')} />
            ),
          },
          {
            key: 'created',
            label: t('services.made'),
            width: '128px',
            wide: true,
            show: ({ createdAt }) => <Moment at={createdAt} />,
          },
        ]}
        empty={
          <Empty icon="key" title={t('services.none')}>
            <p className="muted">{t('services.how')}</p>
          </Empty>
        }
      />
      <FormDialog
        title={t('services.create')}
        open={creating}
        close={() => setCreating(false)}
        submit={() =>
          create.mutate(
            {
              body: {
                name,
                bindings: [{ resource: { kind: 'repository', id: repository }, actions: chosenActions(actions) }],
              },
            },
            { onSuccess: () => setCreating(false) },
          )
        }
        label={t('me.create')}
        busy={create.isPending}
        error={create.error}
        ready={name !== '' && repository !== '' && actions.length > 0}
      >
        <TextInput
          label={t('list.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label={t('list.repository')}
          value={repository}
          onChange={(event) => setRepository(event.currentTarget.value)}
        />
        <Actions value={actions} change={setActions} />
      </FormDialog>
    </Section>
  )
}
