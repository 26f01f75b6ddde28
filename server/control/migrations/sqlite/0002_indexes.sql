-- what somebody owns and what they were granted, found without a look at the items of others
CREATE INDEX items_owner ON items (owner_id, kind, id);

CREATE INDEX grants_token ON grants (token_id, permission, item_id);
