import { Button, PasswordInput, Select, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Moment } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'

/** A person as the list of people tells it. */
export type User = Answer<'listUsers'>['items'][number]

/** A new account, with its group; says what it will see. */
export const CreatePerson = ({ close }: { readonly close: () => void }) => {
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

/** Lets a person in or not, sets a new password, revokes their tokens. */
export const ChangePerson = ({ user, close }: { readonly user: User; readonly close: () => void }) => {
  const [enabled, setEnabled] = useState(user.enabled)
  const [password, setPassword] = useState('')
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
      ready={enabled !== user.enabled || password !== ''}
      named={needsName ? user.name : null}
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
