BEGIN TRANSACTION;
CREATE TABLE branches (
	thread_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	lineage TEXT NOT NULL, 
	opened_version BIGINT NOT NULL, 
	PRIMARY KEY (thread_id, name)
);
INSERT INTO "branches" VALUES('t','main','[]',1);
INSERT INTO "branches" VALUES('other','main','[]',1);
CREATE TABLE cells (
	thread_id TEXT NOT NULL, 
	branch TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	cell TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	version BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	value TEXT, 
	policy TEXT NOT NULL, 
	stamp TEXT, 
	given TEXT, 
	PRIMARY KEY (thread_id, branch, scope, owner, cell, "key", version, place), 
	FOREIGN KEY(thread_id, version) REFERENCES commits (thread_id, thread_version)
)
 WITHOUT ROWID

;
INSERT INTO "cells" VALUES('t','main','run','r1','position','node/n',2,2,'{"executions":1,"order":1}','disjoint',NULL,NULL);
INSERT INTO "cells" VALUES('t','main','thread','','data','k',1,0,'1','disjoint',NULL,NULL);
INSERT INTO "cells" VALUES('t','main','thread','','data','k',2,0,'2','disjoint',NULL,NULL);
INSERT INTO "cells" VALUES('t','main','thread','','data','k',5,0,NULL,'disjoint',NULL,NULL);
INSERT INTO "cells" VALUES('t','main','thread','','data','m',1,1,'{"x":[1,2.5,null]}','commutative',NULL,NULL);
INSERT INTO "cells" VALUES('t','main','thread','','data','m',2,1,'{"x":[1,2.5,null],"y":true}','commutative',NULL,'{"y":true}');
INSERT INTO "cells" VALUES('t','main','thread','','metadata','meta',8,0,'[1]','disjoint',NULL,NULL);
CREATE TABLE commits (
	thread_id TEXT NOT NULL, 
	thread_version BIGINT NOT NULL, 
	run_id TEXT NOT NULL, 
	ordinal BIGINT NOT NULL, 
	owner_epoch BIGINT NOT NULL, 
	branch TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	payload_hash TEXT NOT NULL, 
	listed TEXT NOT NULL, 
	disposition TEXT NOT NULL, 
	opening TEXT, 
	position TEXT, 
	opened TEXT, 
	closed TEXT, 
	events TEXT, 
	node_id TEXT, 
	checkpoint TEXT, 
	result TEXT, 
	message_count BIGINT NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (thread_id, thread_version), 
	UNIQUE (run_id, ordinal)
)
 WITHOUT ROWID

;
INSERT INTO "commits" VALUES('other',1,'q1',0,1,'main','Running','f315edbb51717832c93532a633f695165263d0460571ef9cf70f6f4c08a0e90d','{}','{"kind":"Running"}','{"runEpoch":1,"chainId":"chain-1","graphId":"greet","graphDigest":"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,'2030-01-02T12:00:10.000Z');
INSERT INTO "commits" VALUES('other',2,'q1',1,1,'main','Running','7d9fc50c6eed4c13413c00d4821d8164af1441e5c9ad4d1aa5bdff808134cb31','{"messages":["942dacef3c688990180216fdad8fa144810b98229a8fca6fc5a12211eeaa228b"]}','{"kind":"Running"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,'2030-01-02T12:00:11.000Z');
INSERT INTO "commits" VALUES('t',1,'r1',0,1,'main','Running','b7e50f0b0797564be2ee15a9b215a1ea2ecdcb11a60cac8194dc69cf74635882','{"messages":["6bd14e3921091cf28e9be377f2ad6f410376f4ee83f417796c0825a397d6dfc3"],"state":["dd3ff6bc0ad9dd1d32514a7bc2ef1aa5810bade36d331c48d11b801d2ca527d6","2735ae227d77f50b5afaa54af4cddeca609c27b21812a64f7caa28b2e4e984cd"]}','{"kind":"Running"}','{"runEpoch":1,"chainId":"chain-1","graphId":"greet","graphDigest":"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"}',NULL,NULL,NULL,'[{"kind":"provenance","body":{"start":{"source":"fresh"},"cleared":{}}}]',NULL,NULL,NULL,1,'2030-01-02T12:00:01.000Z');
INSERT INTO "commits" VALUES('t',2,'r1',1,1,'main','Running','f8226ab62f8cf4fa93b548cfb341f80af070f6a37a9d1e2bc0a59104b2a084d3','{"state":["36f9511b73671dae670b3167d60240fd69a4bbb8692692e3136bd817b0de5170","efc042af2cf273c41f95d076df30b8224f69af784f3971c77808083aa38b02c3","ce1f98dfe609eb799390a2d7a8427f251cd72b1a91c6b4753fc6cc0f5fc2a97e"],"rows":["317887f081c2c9ef67e4747af479d5e3a763c30740e435b7b4fc03924167a934","198ecbec979a2bba797eacb635b857313c9f24e7ab404062e44277df548731d8"]}','{"kind":"Running"}',NULL,'{"currentNodeId":"n","iterationCount":1,"iterator":{"nodeId":"each","occurrence":0,"index":0,"items":1,"results":0}}',NULL,NULL,NULL,'n','node',NULL,1,'2030-01-02T12:00:02.000Z');
INSERT INTO "commits" VALUES('t',3,'r1',2,1,'main','Awaiting','1c3282ff4ec6fa218489d793f7ea7375dfef184afc9919c96c5f06ee1489dc44','{}','{"kind":"Awaiting","tickets":[{"ticket":"r1:gate:0:0","runId":"r1","threadId":"t"}]}',NULL,NULL,'[{"ticket":"r1:gate:0:0","runId":"r1","threadId":"t","nodeId":"gate","occurrence":0,"kind":"approval","message":"Pay?","deadlineAfter":3600.0}]',NULL,NULL,'gate','pause',NULL,1,'2030-01-02T12:00:03.000Z');
INSERT INTO "commits" VALUES('t',4,'r1',3,1,'main','Running','d6fda91e90a427576779be72e292ce4a57159c4c4aff8c9437dd14a0709a3d33','{"messages":["42e61fd5240e7509006ba811e39a62b61defedf796e79dab632171610d1ddfeb"]}','{"kind":"Running"}',NULL,NULL,NULL,'[{"ticket":"r1:gate:0:0","outcome":"answered","decision":"approve"}]',NULL,'gate','node',NULL,2,'2030-01-02T12:00:04.000Z');
INSERT INTO "commits" VALUES('t',5,'r1',4,1,'main','Running','ef9d3016ffa98988d582056821eee9a6560cf592cf7fcfeab1a3481c6cab8939','{"state":["16e68e09674e93f65860e7b53adbd923a1a9175673073a612f63a885040cad86"]}','{"kind":"Running"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,'2030-01-02T12:00:05.000Z');
INSERT INTO "commits" VALUES('t',6,'r1',5,1,'main','Ended','883d1e5c95876aba4ccb7091cf762cf5f940ff8807c7b054395cedb4bd3a74fd','{}','{"kind":"Ended","cause":{"kind":"NaturalEnd"}}',NULL,NULL,NULL,NULL,NULL,NULL,'end',NULL,2,'2030-01-02T12:00:06.000Z');
INSERT INTO "commits" VALUES('t',7,'r2',0,1,'main','Running','6e1c9a77cd60fe736faee9abe8c24efcea3cf84493e8aab66c8c0e7fe3d084d0','{}','{"kind":"Running"}','{"runEpoch":2,"chainId":"chain-r2","graphId":"greet","graphDigest":"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff","start":{"source":"thread"}}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,'2030-01-02T12:00:07.000Z');
INSERT INTO "commits" VALUES('t',8,'r2',1,1,'main','Running','f64a418f6420e248618466e406b5a094139c078724ffeef9ce39a3999e6d8506','{"messages":["0f01377869f581526af5072ae1f9f5414041618a973079c20abb98f4ff9584b5"],"state":["e37d26566d7020dbaccef04eaa84322ab5ed8fcfc8762729d733610c4255efc2"]}','{"kind":"Running"}',NULL,NULL,NULL,NULL,NULL,'n','node',NULL,3,'2030-01-02T12:00:08.000Z');
INSERT INTO "commits" VALUES('t',9,'r2',2,1,'main','Awaiting','36917406047bcb287b8a6650bcb543a651b85162e25cff5cbb1021bf575715bb','{}','{"kind":"Awaiting","tickets":[{"ticket":"r2:gate:0:0","runId":"r2","threadId":"t"}]}',NULL,NULL,'[{"ticket":"r2:gate:0:0","runId":"r2","threadId":"t","nodeId":"gate","occurrence":0,"kind":"approval","message":"And now?"}]',NULL,NULL,'gate','pause',NULL,3,'2030-01-02T12:00:09.000Z');
CREATE TABLE graphs (
	digest TEXT NOT NULL, 
	graph_id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (digest, graph_id)
);
INSERT INTO "graphs" VALUES('ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','greet','{"id":"greet","nodes":[{"id":"a","type":"value"}],"edges":[]}','2030-01-02T12:00:00.000Z');
CREATE TABLE messages (
	thread_id TEXT NOT NULL, 
	branch TEXT NOT NULL, 
	place BIGINT NOT NULL, 
	version BIGINT NOT NULL, 
	message_id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (thread_id, branch, place), 
	FOREIGN KEY(thread_id, version) REFERENCES commits (thread_id, thread_version)
)
 WITHOUT ROWID

;
INSERT INTO "messages" VALUES('other','main',0,2,'o1','{"id":"o1","role":"user","content":"hello"}');
INSERT INTO "messages" VALUES('t','main',0,1,'m0','{"id":"m0","role":"user","content":"grüße \"ü\""}');
INSERT INTO "messages" VALUES('t','main',1,4,'m1','{"id":"m1","role":"user","content":"ja"}');
INSERT INTO "messages" VALUES('t','main',2,8,'m2','{"id":"m2","role":"user","content":"hello"}');
CREATE TABLE run_owners (
	run_id TEXT NOT NULL, 
	owner_epoch BIGINT NOT NULL, 
	chain_id TEXT NOT NULL, 
	execution_run_id TEXT, 
	namespace TEXT, 
	at TEXT NOT NULL, 
	PRIMARY KEY (run_id, owner_epoch)
);
INSERT INTO "run_owners" VALUES('r1',1,'chain-1',NULL,NULL,'2030-01-02T12:00:01.000Z');
INSERT INTO "run_owners" VALUES('r2',1,'chain-r2',NULL,NULL,'2030-01-02T12:00:07.000Z');
INSERT INTO "run_owners" VALUES('q1',1,'chain-1',NULL,NULL,'2030-01-02T12:00:10.000Z');
INSERT INTO "run_owners" VALUES('q1',2,'chain-9',NULL,NULL,'2030-01-02T12:00:12.000Z');
CREATE TABLE run_rows (
	run_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	node_id TEXT NOT NULL, 
	occurrence BIGINT NOT NULL, 
	idx BIGINT NOT NULL, 
	version BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	thread_id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (run_id, kind, node_id, occurrence, idx, version, place), 
	FOREIGN KEY(thread_id, version) REFERENCES commits (thread_id, thread_version)
)
 WITHOUT ROWID

;
INSERT INTO "run_rows" VALUES('r1','item','each',0,0,2,1,'t','50');
INSERT INTO "run_rows" VALUES('r1','output','n',0,0,2,0,'t','{"outputs":{"text":"hi"}}');
CREATE TABLE runs (
	run_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	branch TEXT NOT NULL, 
	run_epoch BIGINT NOT NULL, 
	owner_epoch BIGINT NOT NULL, 
	chain_id TEXT NOT NULL, 
	graph_id TEXT NOT NULL, 
	graph_digest TEXT NOT NULL, 
	config TEXT NOT NULL, 
	start TEXT NOT NULL, 
	idempotency_key TEXT, 
	request_hash TEXT, 
	phase TEXT NOT NULL, 
	cause TEXT, 
	result TEXT, 
	last_ordinal BIGINT NOT NULL, 
	last_version BIGINT NOT NULL, 
	message_count BIGINT NOT NULL, 
	opened_at TEXT NOT NULL, 
	opened_version BIGINT NOT NULL, 
	ended_at TEXT, 
	PRIMARY KEY (run_id)
);
INSERT INTO "runs" VALUES('r1','t','main',1,1,'chain-1','greet','ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','{}','{}',NULL,NULL,'ended','{"kind":"NaturalEnd","message":null,"details":{}}',NULL,5,6,2,'2030-01-02T12:00:01.000Z',1,'2030-01-02T12:00:06.000Z');
INSERT INTO "runs" VALUES('r2','t','main',2,1,'chain-r2','greet','ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','{}','{"source":"thread"}',NULL,NULL,'awaiting',NULL,NULL,2,9,3,'2030-01-02T12:00:07.000Z',7,NULL);
INSERT INTO "runs" VALUES('q1','other','main',1,2,'chain-1','greet','ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','{}','{}',NULL,NULL,'running',NULL,NULL,1,2,1,'2030-01-02T12:00:10.000Z',1,NULL);
CREATE TABLE schema_version (
	id BIGINT NOT NULL, 
	version BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "schema_version" VALUES(1,1);
CREATE TABLE threads (
	thread_id TEXT NOT NULL, 
	version BIGINT NOT NULL, 
	head_run_id TEXT NOT NULL, 
	PRIMARY KEY (thread_id)
);
INSERT INTO "threads" VALUES('t',9,'r2');
INSERT INTO "threads" VALUES('other',2,'q1');
CREATE TABLE tickets (
	ticket TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	opened_version BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	created_at TEXT NOT NULL, 
	deadline TEXT, 
	closed_version BIGINT, 
	closing TEXT, 
	PRIMARY KEY (ticket)
);
INSERT INTO "tickets" VALUES('r1:gate:0:0','r1','t','{"ticket":"r1:gate:0:0","runId":"r1","threadId":"t","nodeId":"gate","occurrence":0,"kind":"approval","message":"Pay?","input":null,"answerSchema":null,"allowed":null,"who":null,"deadlineAfter":3600.0,"onDeadline":null,"reason":null}',3,0,'2030-01-02T12:00:03.000Z','2030-01-02T13:00:03.000Z',4,'{"ticket":"r1:gate:0:0","outcome":"answered","decision":"approve","value":null,"actor":null,"commandId":null}');
INSERT INTO "tickets" VALUES('r2:gate:0:0','r2','t','{"ticket":"r2:gate:0:0","runId":"r2","threadId":"t","nodeId":"gate","occurrence":0,"kind":"approval","message":"And now?","input":null,"answerSchema":null,"allowed":null,"who":null,"deadlineAfter":null,"onDeadline":null,"reason":null}',9,0,'2030-01-02T12:00:09.000Z',NULL,NULL,NULL);
CREATE INDEX commits_of_branch ON commits (thread_id, branch, thread_version);
CREATE INDEX run_owners_of_chain ON run_owners (chain_id);
CREATE INDEX runs_by_key ON runs (thread_id, idempotency_key);
CREATE INDEX runs_of_thread ON runs (thread_id, opened_version);
CREATE INDEX runs_by_phase ON runs (thread_id, phase);
CREATE INDEX tickets_of_run ON tickets (run_id, closed_version);
CREATE INDEX graphs_by_id ON graphs (graph_id, created_at);
CREATE INDEX messages_by_id ON messages (message_id, thread_id);
CREATE INDEX run_rows_by_completion ON run_rows (run_id, kind, version, place);
COMMIT;
