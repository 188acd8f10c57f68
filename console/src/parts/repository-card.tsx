import { Link } from '@tanstack/react-router'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { toggleStar, useStars } from '../session/stars.ts'
import { t } from '../words/words.ts'
import { Moment, Size, Tag } from './values.tsx'

const counted = ['files', 'packages', 'images', 'npm', 'lfs'] as const

/** A service that knows more formats than this console has words for shows those it has. */
const isCounted = (format: string): format is (typeof counted)[number] => counted.some((each) => each === format)

/** A repository as one comes to it: its name, what one may do there, how full it is, of what, and when it last changed. */
export const RepositoryCard = ({ id, permissions, filled, counts }: Answer<'listRepositories'>['items'][number]) => {
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
          {counts.map(({ format, count, isMore }) =>
            isCounted(format) ? (
              <span key={format}>{t(`card.${format}`, { count, more: isMore ? 'yes' : 'no' })}</span>
            ) : null,
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
