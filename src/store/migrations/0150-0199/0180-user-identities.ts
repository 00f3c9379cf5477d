import { migration } from '../../migration.js'

/** The users of identity providers. A subject is a provider's name for a person, which stays when the e-mail address changes. */
export const userIdentities = migration([
  `create table user_identities (
    issuer text not null,
    subject text not null,
    user_id uuid not null references users,
    created_at timestamptz not null default now(),
    primary key (issuer, subject),
    unique (issuer, user_id)
  )`,
])
