/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `audit` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `at` bigint(20) NOT NULL,
  `principal` longtext NOT NULL,
  `request` varchar(64) NOT NULL,
  `action` varchar(64) NOT NULL,
  `kind` varchar(64) NOT NULL,
  `name` longtext NOT NULL,
  `before_write` longtext DEFAULT NULL,
  `after_write` longtext DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=16 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `audit` VALUES (1,1795797890723351,'the command line','','create','tokens','admin',NULL,'{\"created_at\":\"2026-11-27T16:44:50.722719Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"admin\",\"role\":\"administrator\"}');
INSERT INTO `audit` VALUES (2,1795797890727645,'the command line','','create','tokens','viewer',NULL,'{\"created_at\":\"2026-11-27T16:44:50.726878Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"viewer\",\"role\":\"viewer\"}');
INSERT INTO `audit` VALUES (3,1795797890735838,'the command line','','create','tokens','owner1',NULL,'{\"created_at\":\"2026-11-27T16:44:50.735443Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"owner1\",\"role\":\"owner\"}');
INSERT INTO `audit` VALUES (4,1795797890739217,'the command line','','create','tokens','owner2',NULL,'{\"created_at\":\"2026-11-27T16:44:50.738788Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"owner2\",\"role\":\"owner\"}');
INSERT INTO `audit` VALUES (5,1795797890741513,'the command line','','create','tokens','stack1',NULL,'{\"created_at\":\"2026-11-27T16:44:50.740951Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"stack1\",\"role\":\"stack_owner\"}');
INSERT INTO `audit` VALUES (6,1795797890743670,'the command line','','create','tokens','stack2',NULL,'{\"created_at\":\"2026-11-27T16:44:50.743314Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"stack2\",\"role\":\"stack_owner\"}');
INSERT INTO `audit` VALUES (7,1795797890747252,'owner1','1','create','secrets','shared',NULL,'{\"type\":\"token_auth\"}');
INSERT INTO `audit` VALUES (8,1795797890751076,'owner1','2','create','secrets','own',NULL,'{\"type\":\"basic_auth\"}');
INSERT INTO `audit` VALUES (9,1795797890754779,'admin','3','grant','secrets','shared','{\"permissions\":[],\"token\":\"owner2\"}','{\"permissions\":[\"secrets.use\",\"secrets.view\"],\"token\":\"owner2\"}');
INSERT INTO `audit` VALUES (10,1795797890769608,'owner1','4','create','sources','plain',NULL,'{\"name\":\"plain\",\"datasources\":[{\"name\":\"headers\",\"path\":\"a\",\"type\":\"http\",\"config\":{\"url\":\"https://a.example.com/x\",\"headers\":{\"Accept\":\"application/json\",\"Cookie\":\"sid=fixture-credential\",\"Private-Token\":\"fixture-credential\",\"Proxy-Authorization\":\"Basic fixture-credential\",\"X-API-KEY\":\"fixture-credential\",\"authorization\":\"Bearer fixture-credential\"}}},{\"name\":\"url\",\"path\":\"b\",\"type\":\"http\",\"config\":{\"url\":\"https://b.example.com/x?access_token=fixture-credential&page=1\"}},{\"name\":\"json\",\"path\":\"c\",\"type\":\"http\",\"config\":{\"url\":\"https://c.example.com/x\",\"method\":\"POST\",\"body\":\"{\\\"user\\\": \\\"u\\\", \\\"password\\\": \\\"fixture-credential\\\"}\"}},{\"name\":\"form\",\"path\":\"d\",\"type\":\"http\",\"config\":{\"url\":\"https://d.example.com/x\",\"method\":\"POST\",\"body\":\"grant_type=password&client_secret=fixture-credential\"}}]}');
INSERT INTO `audit` VALUES (11,1795797890773134,'owner1','5','create','sources','clean',NULL,'{\"name\":\"clean\",\"datasources\":[{\"name\":\"a\",\"path\":\"a\",\"type\":\"http\",\"config\":{\"url\":\"https://a.example.com/x\",\"headers\":{\"Accept\":\"text/csv\"}},\"credentials\":\"own\"}]}');
INSERT INTO `audit` VALUES (12,1795797890776119,'owner2','6','create','sources','using',NULL,'{\"name\":\"using\",\"datasources\":[{\"name\":\"a\",\"path\":\"a\",\"type\":\"http\",\"config\":{\"url\":\"https://elsewhere.example.org/x\"},\"credentials\":\"shared\"}]}');
INSERT INTO `audit` VALUES (13,1795797890780429,'owner1','7','create data','sources','clean',NULL,'{\"bytes\":7,\"path\":\"x/data.json\",\"tag\":\"Ghd8IUW-BxV23Ozb\"}');
INSERT INTO `audit` VALUES (14,1795797890790270,'owner1','8','create','bundles','b',NULL,'{\"name\":\"b\",\"requirements\":[{\"source\":\"clean\"}]}');
INSERT INTO `audit` VALUES (15,1795797890793705,'stack1','9','create','stacks','s',NULL,'{\"name\":\"s\",\"selector\":{\"env\":[\"*\"]}}');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `grants` (
  `item_id` bigint(20) NOT NULL,
  `token_id` bigint(20) NOT NULL,
  `permission` varchar(64) NOT NULL,
  PRIMARY KEY (`item_id`,`token_id`,`permission`),
  KEY `grants_token` (`token_id`),
  CONSTRAINT `grants_item` FOREIGN KEY (`item_id`) REFERENCES `items` (`id`) ON DELETE CASCADE,
  CONSTRAINT `grants_token` FOREIGN KEY (`token_id`) REFERENCES `tokens` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `grants` VALUES (1,4,'secrets.use');
INSERT INTO `grants` VALUES (1,4,'secrets.view');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `item_references` (
  `user_id` bigint(20) NOT NULL,
  `used_id` bigint(20) NOT NULL,
  PRIMARY KEY (`user_id`,`used_id`),
  KEY `item_references_used_id` (`used_id`),
  CONSTRAINT `item_references_used` FOREIGN KEY (`used_id`) REFERENCES `items` (`id`),
  CONSTRAINT `item_references_user` FOREIGN KEY (`user_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `item_references` VALUES (4,2);
INSERT INTO `item_references` VALUES (5,1);
INSERT INTO `item_references` VALUES (6,4);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `items` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `kind` varchar(64) NOT NULL,
  `name` varbinary(1100) NOT NULL,
  `version` bigint(20) NOT NULL,
  `owner_id` bigint(20) DEFAULT NULL,
  `file` longtext DEFAULT NULL,
  `body` longtext NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `updated_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `items_name` (`kind`,`name`),
  KEY `items_owner` (`owner_id`),
  KEY `items_kind` (`kind`,`id`),
  CONSTRAINT `items_owner` FOREIGN KEY (`owner_id`) REFERENCES `tokens` (`id`) ON DELETE SET NULL
) ENGINE=InnoDB AUTO_INCREMENT=8 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `items` VALUES (1,'secrets',0x736861726564,1,3,NULL,'{\"type\":\"token_auth\"}',1795797890746531,1795797890746533);
INSERT INTO `items` VALUES (2,'secrets',0x6F776E,1,3,NULL,'{\"type\":\"basic_auth\"}',1795797890750648,1795797890750650);
INSERT INTO `items` VALUES (3,'sources',0x706C61696E,1,3,NULL,'{\"name\":\"plain\",\"datasources\":[{\"name\":\"headers\",\"path\":\"a\",\"type\":\"http\",\"config\":{\"url\":\"https://a.example.com/x\",\"headers\":{\"Accept\":\"application/json\",\"Cookie\":\"sid=fixture-credential\",\"Private-Token\":\"fixture-credential\",\"Proxy-Authorization\":\"Basic fixture-credential\",\"X-API-KEY\":\"fixture-credential\",\"authorization\":\"Bearer fixture-credential\"}}},{\"name\":\"url\",\"path\":\"b\",\"type\":\"http\",\"config\":{\"url\":\"https://b.example.com/x?access_token=fixture-credential&page=1\"}},{\"name\":\"json\",\"path\":\"c\",\"type\":\"http\",\"config\":{\"url\":\"https://c.example.com/x\",\"method\":\"POST\",\"body\":\"{\\\"user\\\": \\\"u\\\", \\\"password\\\": \\\"fixture-credential\\\"}\"}},{\"name\":\"form\",\"path\":\"d\",\"type\":\"http\",\"config\":{\"url\":\"https://d.example.com/x\",\"method\":\"POST\",\"body\":\"grant_type=password&client_secret=fixture-credential\"}}]}',1795797890769230,1795797890769233);
INSERT INTO `items` VALUES (4,'sources',0x636C65616E,1,3,NULL,'{\"name\":\"clean\",\"datasources\":[{\"name\":\"a\",\"path\":\"a\",\"type\":\"http\",\"config\":{\"url\":\"https://a.example.com/x\",\"headers\":{\"Accept\":\"text/csv\"}},\"credentials\":\"own\"}]}',1795797890772148,1795797890772150);
INSERT INTO `items` VALUES (5,'sources',0x7573696E67,1,4,NULL,'{\"name\":\"using\",\"datasources\":[{\"name\":\"a\",\"path\":\"a\",\"type\":\"http\",\"config\":{\"url\":\"https://elsewhere.example.org/x\"},\"credentials\":\"shared\"}]}',1795797890775572,1795797890775574);
INSERT INTO `items` VALUES (6,'bundles',0x62,1,3,NULL,'{\"name\":\"b\",\"requirements\":[{\"source\":\"clean\"}]}',1795797890782955,1795797890782957);
INSERT INTO `items` VALUES (7,'stacks',0x73,1,5,NULL,'{\"name\":\"s\",\"selector\":{\"env\":[\"*\"]}}',1795797890793300,1795797890793302);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `secret_values` (
  `item_id` bigint(20) NOT NULL,
  `key_id` varchar(64) NOT NULL,
  `sealed` longblob NOT NULL,
  PRIMARY KEY (`item_id`),
  CONSTRAINT `secret_values_item` FOREIGN KEY (`item_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `secret_values` VALUES (1,'5f03f0dabdc6192c',0x4057E02ED180FB4BE926C818F6208CB0E7C20C90510152987EEA266887CA38BE1FBA7A77BB583CFA316D1309C12D545BEA58CBDD3FD561279F0280CB74748407B9);
INSERT INTO `secret_values` VALUES (2,'5f03f0dabdc6192c',0xF5902F4312F20FC712B2AB6C5A7F4459453024FE02E19B178999DBBDC7F19AB2869DF32212CB7362A8EB813D72B91D8BC3468CC759C8D9AD46AFA61CE4F953A1BDFC6DD42087B7E6B21279C288FE45);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `settings` (
  `name` varbinary(1100) NOT NULL,
  `value` longblob NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `settings` VALUES (0x736572766963655F6B657973,0x356630336630646162646336313932630AF214D37728C433A8243EF57C72F00B4F44711F03A8C512CF9FF43AB706672A44A7A319282F1A7BB8BC1BC35B444283329C5C703C3623D7836A5C1BFC);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solon_migrations` (
  `version` bigint(20) NOT NULL,
  `applied_at` bigint(20) NOT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `solon_migrations` VALUES (1,1795797890700821);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `source_data` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `source_id` bigint(20) NOT NULL,
  `path` varbinary(1100) NOT NULL,
  `version` bigint(20) NOT NULL,
  `body` longtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `source_data_path` (`source_id`,`path`),
  CONSTRAINT `source_data_source` FOREIGN KEY (`source_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `source_data` VALUES (1,4,0x782F646174612E6A736F6E,1,'{\"a\":1}');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `statuses` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `bundle_id` bigint(20) NOT NULL,
  `revision` varbinary(1100) NOT NULL,
  `phase` varchar(64) NOT NULL,
  `status` varchar(64) NOT NULL,
  `error_message` longtext NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `updated_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `statuses_bundle` (`bundle_id`,`id`),
  CONSTRAINT `statuses_bundle_id` FOREIGN KEY (`bundle_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `tokens` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varbinary(1100) NOT NULL,
  `role` varchar(64) NOT NULL,
  `key_hash` varbinary(64) NOT NULL,
  `file` longtext DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) DEFAULT NULL,
  `last_used_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`),
  UNIQUE KEY `key_hash` (`key_hash`)
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `tokens` VALUES (1,0x61646D696E,'administrator',0x6E5DD9A8CB8C5C95926740952C9426D75BDAF1DB1B8F63D0A7AE383F7062BF65,NULL,1795797890722719,NULL,1795797890766287);
INSERT INTO `tokens` VALUES (2,0x766965776572,'viewer',0x7C6F4C8493728424BCD34739D2E63B66CDB4F8550090971B3E0D738F137B7FA8,NULL,1795797890726878,NULL,NULL);
INSERT INTO `tokens` VALUES (3,0x6F776E657231,'owner',0x94CEDA44D5684E2E6D44314BEC3F42C1A5E93A4FD9821FC20CFA196D57AFC447,NULL,1795797890735443,NULL,1795797890748167);
INSERT INTO `tokens` VALUES (4,0x6F776E657232,'owner',0xA8EEB75737D0B9CBFD610BAD07A47AB21DC36134DC0180A2BA6B4149545B863A,NULL,1795797890738788,NULL,1795797890776303);
INSERT INTO `tokens` VALUES (5,0x737461636B31,'stack_owner',0x5056730C63AAEC83DAF646E8DE7C86A4EF50E936DC91C266350D2EBC63FFDE7A,NULL,1795797890740951,NULL,1795797890793905);
INSERT INTO `tokens` VALUES (6,0x737461636B32,'stack_owner',0x8C13E11314A48F69C024895057318317987358257F379611431C9832B5BF7641,NULL,1795797890743314,NULL,NULL);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `writer` (
  `id` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `writer` VALUES (1);
