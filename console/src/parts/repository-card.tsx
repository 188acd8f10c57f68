import { Link } from '@tanstack/react-router'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { toggleStar, useStars } from '../session/stars.ts'
import { t } from '../words/words.ts'
import { Moment, Size, Tag } from './values.tsx'

/** A repository as one comes to it: its name, what one may do there, how full it is and when it last changed. */
export const RepositoryCard = ({ id, permissions, filled }: Answer<'listRepositories'>['items'][number]) => {
  const starred = useStars().includes(id)
  return (
    <li className="card touch">
      <div className="spread">
        <h2>
          <Link to="/r/$repository" params={{ repository: id }}>
            {id}
          </Link>
        </h2>
        <button
          type="button"
          className={starred ? 'plain above starred-on' : 'plain above'}
          aria-pressed={starred}
          aria-label={t('repositories.star', { name: id })}
          onClick={() => toggleStar(id)}
        >
          <Icon name="star" />
        </button>
      </div>
      <div className="line">
        {permissions.includes('upload.create') ? (
          <Tag tone="accent" text={t('repositories.write')} />
        ) : (
          <Tag text={t('repositories.read')} />
        )}
      </div>
      {filled === null ? null : (
        <p className="foot">
          {filled.publishedBytes === '0' ? (
            <span>{t('repositories.empty')}</span>
          ) : (
            <Size bytes={filled.publishedBytes} />
          )}
          {filled.lastChangeAt === null ? null : (
            <span>
              {t('repositories.changed')} <Moment at={filled.lastChangeAt} />
            </span>
          )}
        </p>
      )}
    </li>
  )
}
