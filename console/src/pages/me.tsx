import {
  Button,
  PasswordInput,
  SegmentedControl,
  Select,
  Switch,
  TextInput,
  useMantineColorScheme,
} from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { density, hasShortcuts, setDensity, setShortcuts } from '../look/preferences.ts'
import { Act } from '../parts/act.tsx'
import { Commands } from '../parts/copy.tsx'
import { FormDialog, SecretDialog } from '../parts/dialog.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Moment, Tag } from '../parts/values.tsx'
import { ask, useHolders } from '../session/holders.ts'
import { openKeyDialog } from '../session/key-dialog-state.ts'
import { endSession, session } from '../session/session.ts'
import { forgetUploads } from '../upload/queue.ts'
import { exactTime } from '../values/format.ts'
import { choose, language, languages, said, t } from '../words/words.ts'

const signOut = async (): Promise<void> => {
  await ask('logout', {}).catch(() => {})
  await forgetUploads()
  endSession()
}

/** Oneself: how one signs in, what acts in one's name, and how the console looks. */
export const Me = () => {
  const { session: holder, keys } = useHolders()
  const now = session()
  return (
    <Page
      title={holder?.name ?? t('nav.you')}
      actions={
        <>
          <Button variant="default" leftSection={<Icon name="key" />} onClick={openKeyDialog}>
            {t('keys.use')}
          </Button>
          <Button variant="default" leftSection={<Icon name="signOut" />} onClick={() => void signOut()}>
            {t('me.out')}
          </Button>
        </>
      }
    >
      <div className="panel">
        <Facts
          facts={[
            [t('me.role'), holder?.administrator === true ? t('me.administrator') : t('me.person')],
            [t('me.until'), now === null ? '' : exactTime(now.expiresAt)],
            [t('me.keys'), keys.length === 0 ? t('me.noKeys') : keys.map(({ name }) => name).join(', ')],
          ]}
        />
      </div>
      <Looks />
      {holder === null ? null : (
        <>
          <Sessions />
          <Tokens />
          <Password />
        </>
      )}
    </Page>
  )
}

const Looks = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [compact, setCompact] = useState(density())
  const [shortcuts, setLetters] = useState(hasShortcuts())
  return (
    <Section title={t('me.looks')}>
      <div className="panel">
        <div className="filters">
          <div>
            <span className="small muted" id="theme">
              {t('me.theme')}
            </span>
            <SegmentedControl
              aria-labelledby="theme"
              value={colorScheme}
              onChange={(next) => setColorScheme(next === 'dark' ? 'dark' : next === 'light' ? 'light' : 'auto')}
              data={[
                { value: 'auto', label: t('me.auto') },
                { value: 'light', label: t('me.light') },
                { value: 'dark', label: t('me.dark') },
              ]}
            />
          </div>
          <div>
            <span className="small muted" id="language">
              {t('me.language')}
            </span>
            <SegmentedControl
              aria-labelledby="language"
              value={language()}
              onChange={(next) => void choose(next === 'ru' ? 'ru' : 'en')}
              data={languages.map((each) => ({ value: each, label: said('language', each) }))}
            />
          </div>
          <div>
            <span className="small muted" id="density">
              {t('me.density')}
            </span>
            <SegmentedControl
              aria-labelledby="density"
              value={compact}
              onChange={(next) => {
                const chosen = next === 'compact' ? 'compact' : 'comfortable'
                setDensity(chosen)
                setCompact(chosen)
              }}
              data={[
                { value: 'comfortable', label: t('me.comfortable') },
                { value: 'compact', label: t('me.compact') },
              ]}
            />
          </div>
        </div>
        <Switch
          label={t('me.shortcuts')}
          checked={shortcuts}
          onChange={(event) => {
            setShortcuts(event.currentTarget.checked)
            setLetters(event.currentTarget.checked)
          }}
        />
      </div>
    </Section>
  )
}

/** Where one is signed in; what one does not know is ended from here. */
const Sessions = () => {
  const list = useAsk('listSessions', {})
  const end = useChange('endSession', ['listSessions'])
  return (
    <Section title={t('me.sessions')}>
      <Shown of={list} rows={1}>
        {({ items }) => (
          <div className="scroll-x panel">
            <table className="plain-table">
              <thead>
                <tr>
                  <th>{t('me.since')}</th>
                  <th>{t('me.expires')}</th>
                  <th>{t('list.actions')}</th>
                </tr>
              </thead>
              <tbody>
                {items.map(({ id, createdAt, expiresAt, current }) => (
                  <tr key={id}>
                    <td>
                      <Moment at={createdAt} />
                    </td>
                    <td>
                      <Moment at={expiresAt} />
                    </td>
                    <td>
                      {current ? (
                        <Tag tone="accent" text={t('me.here')} />
                      ) : (
                        <Button
                          size="compact-xs"
                          variant="default"
                          onClick={() =>
                            end.mutate(
                              { path: { id } },
                              { onSuccess: () => tell(t('me.sessionEnded')), onError: tellProblem },
                            )
                          }
                        >
                          {t('me.endSession')}
                        </Button>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Shown>
    </Section>
  )
}

const day = 24 * 3_600_000

const Tokens = () => {
  const list = useAsk('listTokens', {})
  const [open, setOpen] = useState(false)
  const [name, setName] = useState('')
  const [scope, setScope] = useState<'read' | 'read-write'>('read')
  const [days, setDays] = useState('90')
  const [secret, setSecret] = useState<string | null>(null)
  const create = useChange('createToken', ['listTokens'])
  const revoke = useChange('revokeToken', ['listTokens'])
  const submit = async (): Promise<void> => {
    const expiresAt = days === 'never' ? null : new Date(Date.now() + Number(days) * day).toISOString()
    const { token } = await create.mutateAsync({ body: { name, scope, expiresAt } })
    setOpen(false)
    setName('')
    setSecret(token)
  }
  return (
    <Section
      title={t('me.tokens')}
      actions={<Act by="createToken" icon="plus" label={t('me.newToken')} run={() => setOpen(true)} />}
    >
      <Shown of={list} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">{t('me.noTokens')}</p>
          ) : (
            <div className="scroll-x panel">
              <table className="plain-table">
                <thead>
                  <tr>
                    <th>{t('list.name')}</th>
                    <th>{t('me.scope')}</th>
                    <th>{t('me.used')}</th>
                    <th>{t('me.expires')}</th>
                    <th>{t('list.actions')}</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((token) => (
                    <tr key={token.id}>
                      <td>
                        {token.name} <code className="muted">{token.prefix}…</code>
                      </td>
                      <td>
                        <Tag tone={token.scope === 'read' ? 'plain' : 'accent'} text={said('scope', token.scope)} />
                      </td>
                      <td>{token.lastUsedAt === null ? t('me.never') : <Moment at={token.lastUsedAt} />}</td>
                      <td>
                        {token.revoked ? (
                          <Tag tone="warn" text={t('me.revoked')} />
                        ) : token.expiresAt === null ? (
                          t('me.noEnd')
                        ) : (
                          <Moment at={token.expiresAt} />
                        )}
                      </td>
                      <td>
                        {token.revoked ? null : (
                          <Button
                            size="compact-xs"
                            variant="default"
                            onClick={() =>
                              revoke.mutate(
                                { path: { id: token.id } },
                                {
                                  onError: tellProblem,
                                  onSuccess: () => tell(t('me.wasRevoked', { name: token.name })),
                                },
                              )
                            }
                          >
                            {t('me.revoke')}
                          </Button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Shown>
      <FormDialog
        title={t('me.newToken')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('me.create')}
        busy={create.isPending}
        error={create.error}
        ready={name !== ''}
      >
        <TextInput
          label={t('me.tokenName')}
          description={t('me.tokenHint')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <SegmentedControl
          aria-label={t('me.scope')}
          value={scope}
          onChange={(next) => setScope(next === 'read' ? 'read' : 'read-write')}
          data={[
            { value: 'read', label: said('scope', 'read') },
            { value: 'read-write', label: said('scope', 'read-write') },
          ]}
        />
        <Select
          label={t('me.expires')}
          value={days}
          onChange={(next) => setDays(next ?? '90')}
          allowDeselect={false}
          data={['30', '90', '365', 'never'].map((value) => ({
            value,
            label: value === 'never' ? t('me.noEnd') : t('me.days', { days: Number(value) }),
          }))}
        />
      </FormDialog>
      <SecretDialog title={t('me.token')} secret={secret} close={() => setSecret(null)}>
        <Commands text={secret ?? ''} what={t('me.token')} />
      </SecretDialog>
    </Section>
  )
}

const Password = () => {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [open, setOpen] = useState(false)
  const change = useChange('changePassword')
  const submit = async (): Promise<void> => {
    await change.mutateAsync({ body: { currentPassword: current, newPassword: next } })
    endSession()
  }
  return (
    <Section
      title={t('sign.password')}
      actions={<Act by="changePassword" icon="lock" label={t('me.change')} run={() => setOpen(true)} />}
    >
      <p className="muted">{t('me.changing')}</p>
      <FormDialog
        title={t('me.change')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('me.change')}
        busy={change.isPending}
        error={change.error}
        ready={current !== '' && next !== ''}
      >
        <PasswordInput
          label={t('me.current')}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
          data-autofocus
        />
        <PasswordInput
          label={t('me.next')}
          description={t('sign.length')}
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
        />
      </FormDialog>
    </Section>
  )
}
